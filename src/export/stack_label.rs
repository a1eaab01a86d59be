//! A call stack in one line: the line of the user's own code that asked, and as much around it as tells it from the others.

use crate::ascend::trace_view::is_user_frame;
use std::collections::HashMap;

/// What stands for the blocks without a stack.
pub const NO_STACK: &str = "(no call stack)";

/// A label for each stack (outermost frame first): its first user frame from the leaf; where several stacks share that, also the leaf, then
/// the callers, as far as they tell it from the others.
pub fn labels(stacks: &[&[String]]) -> Vec<String> {
    let mut alike: HashMap<&str, Vec<&[String]>> = HashMap::new();
    for &stack in stacks {
        if let Some(at) = user_frame(stack) {
            alike.entry(&stack[at]).or_default().push(stack);
        }
    }
    let alike_to = |stack: &[String]| user_frame(stack).and_then(|at| alike.get(stack[at].as_str())).map_or(&[][..], Vec::as_slice);
    stacks.iter().map(|stack| label(stack, alike_to(stack))).collect()
}

/// The place of the frame that is shown for a stack, outermost first.
fn user_frame(stack: &[String]) -> Option<usize> {
    stack.iter().rposition(|frame| is_user_frame(frame)).or(stack.len().checked_sub(1))
}

/// `alike`: the stacks with the same user frame.
fn label(stack: &[String], alike: &[&[String]]) -> String {
    let Some(at) = user_frame(stack) else { return NO_STACK.to_owned() };
    let mut alike: Vec<&[String]> = alike.iter().copied().filter(|other| *other != stack).collect();
    let mut label = stack[at].clone();
    if !alike.is_empty() && at + 1 < stack.len() {
        let before = alike.len();
        alike.retain(|other| other.last() == stack.last());
        if alike.len() < before {
            label = format!("{label} → {}", stack[stack.len() - 1]);
        }
    }
    for outwards in 1..=at {
        let before = alike.len();
        alike.retain(|other| at_user_frame(other, outwards) == Some(&stack[at - outwards]));
        // A caller that all of them share tells nothing.
        if alike.len() < before {
            label = format!("{label} ← {}", stack[at - outwards]);
        }
    }
    label
}

fn at_user_frame(stack: &[String], outwards: usize) -> Option<&String> {
    stack.get(user_frame(stack)?.checked_sub(outwards)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels_of(stacks: &[&[&str]]) -> Vec<String> {
        let stacks: Vec<Vec<String>> = stacks.iter().map(|frames| frames.iter().map(|&frame| frame.to_owned()).collect()).collect();
        labels(&stacks.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    #[test]
    fn the_users_line_and_what_tells_it_from_others() {
        let [a, b, c, library] = ["a.py(1): main", "b.py(2): step", "c.py(3): loss", "x/torch/nn.py(4): linear"];
        let relu = "x/torch/nn.py(9): relu";
        assert_eq!(
            labels_of(&[&[a, b, library], &[a, b, relu], &[a, c], &[], &[library]]),
            [&format!("{b} → {library}"), &format!("{b} → {relu}"), c, NO_STACK, library]
        );
        assert_eq!(labels_of(&[&[a, b], &[c, b]]), [format!("{b} ← {a}"), format!("{b} ← {c}")]);
    }

    #[test]
    fn one_stack_around_another_is_told_apart_by_the_longer_one() {
        assert_eq!(labels_of(&[&["b.py(1): f"], &["a.py(1): g", "b.py(1): f"]]), ["b.py(1): f", "b.py(1): f ← a.py(1): g"]);
    }
}
