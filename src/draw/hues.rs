//! Which names have a hue of their own, and which one: a name keeps its hue in everything that is opened together.

use std::collections::HashMap;

/// So many names of a picture have a hue; the rest are grey, the hue of this number.
pub const HUES: usize = 12;

/// The hue of each name of a picture, the most important first. `known` holds the hues that names had in pictures before. Two names of one
/// picture never share a hue: where they would, the less important takes a free one, here only.
pub fn hues(names: &[&str], known: &mut HashMap<String, u8>) -> Vec<u8> {
    let mut found = vec![HUES as u8; names.len()];
    let mut free = [true; HUES];
    let coloured = || names.iter().enumerate().take(HUES);
    for (at, &name) in coloured() {
        if let Some(&hue) = known.get(name).filter(|&&hue| free[hue as usize]) {
            found[at] = hue;
            free[hue as usize] = false;
        }
    }
    for (at, &name) in coloured() {
        if found[at] as usize != HUES {
            continue;
        }
        // One that no other name has, while there are some.
        let claimed = |hue: u8| known.values().any(|&other| other == hue);
        let of = |unclaimed: bool| (0..HUES as u8).find(|&hue| free[hue as usize] && !(unclaimed && claimed(hue)));
        let Some(hue) = of(true).or_else(|| of(false)) else { continue };
        found[at] = hue;
        free[hue as usize] = false;
        known.entry(name.to_owned()).or_insert(hue);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_hue_in_the_next_picture() {
        let mut known = HashMap::new();
        assert_eq!(hues(&["a", "b", "c"], &mut known), [0, 1, 2]);
        assert_eq!(hues(&["d", "c", "a"], &mut known), [3, 2, 0]);
    }

    #[test]
    fn of_many_names_the_first_have_hues_and_none_is_shared() {
        let mut known = HashMap::new();
        let names: Vec<String> = (0..30).map(|name| name.to_string()).collect();
        for rotated in 0..30 {
            let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
            names.rotate_left(rotated);
            let found = hues(&names, &mut known);
            let mut first = found[..HUES].to_vec();
            first.sort_unstable();
            assert_eq!(first, (0..HUES as u8).collect::<Vec<_>>());
            assert!(found[HUES..].iter().all(|&hue| hue as usize == HUES));
        }
    }
}
