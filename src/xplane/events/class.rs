//! What an event is by its name, and which events of a name are kept.

/// A wait for memory is 10 s long at the most, and 10 s where it is in vain: what may be one takes so long.
pub const WAIT_AT_LEAST_PS: i64 = 9_900_000_000_000;

/// What an event is to the reader of memory, by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Class {
    /// `$file.py:12 function`.
    Python,
    /// The BFC allocator gave memory.
    Allocation,
    /// It took memory back.
    Deallocation,
    /// It waits for memory.
    Retry,
    /// `CommonPjRtLoadedExecutable::Execute (jit_f)`: an execution, with its module.
    Execute(String),
    /// The part of an execution on one device; an execution itself where no [`Class::Execute`] is around it.
    Helper,
    /// `PjitFunction(f)`.
    Pjit(String),
    /// The launch of a module's kernels.
    Thunks,
    /// `jit_f:XLA GPU module`.
    XlaModule,
    /// The driver's launch of a kernel or graph.
    Launch,
    /// A transfer from the host.
    FromHost,
    /// Something that may link threads.
    Execution,
    /// Anything else.
    Other,
}

impl Class {
    fn of(name: &str) -> Class {
        let parenthesised = |prefix: &str| Some(name.strip_prefix(prefix)?.strip_suffix(')')?.to_owned());
        if name.starts_with('$') {
            return Class::Python;
        }
        if let Some(function) = parenthesised("PjitFunction(") {
            return Class::Pjit(function);
        }
        if let Some(rest) = parenthesised("CommonPjRtLoadedExecutable::Execute")
            && let Some((_, module)) = rest.split_once(" (")
        {
            return Class::Execute(module.to_owned());
        }
        match name {
            "MemoryAllocation" => Class::Allocation,
            "MemoryDeallocation" => Class::Deallocation,
            "AllocatorRetry::AllocateRaw" => Class::Retry,
            _ if name.ends_with("::ExecuteHelper") || name.ends_with("::ExecuteHelperOnSingleDevice") => Class::Helper,
            _ if name.ends_with("::ExecuteThunks") => Class::Thunks,
            _ if name.ends_with(":XLA GPU module") => Class::XlaModule,
            _ if (name.starts_with("hip") || name.starts_with("cu")) && name.contains("Launch") => Class::Launch,
            _ if name.starts_with("BufferFromHostBuffer") => Class::FromHost,
            _ if name.contains("Execut") => Class::Execution,
            _ => Class::Other,
        }
    }

    /// Whether a line with such an event is kept.
    pub(super) fn keeps_its_line(&self) -> bool {
        matches!(self, Class::Allocation | Class::Deallocation | Class::Retry | Class::Execute(_) | Class::Helper | Class::Pjit(_))
    }

    /// Whether its stats are looked at.
    pub(crate) fn has_stats(&self) -> bool {
        !matches!(self, Class::Python | Class::Retry | Class::Pjit(_) | Class::Other)
    }
}

/// Which events of a name are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    All,
    /// Those whose stats say something.
    Noted,
    /// Those that may be a wait for memory.
    Long,
    No,
}

impl Keep {
    pub(crate) fn of(name: &Name) -> Keep {
        match name.class {
            _ if name.device.is_some() => Keep::All,
            Class::Python | Class::Launch => Keep::No,
            Class::Other => Keep::Long,
            Class::Execution => Keep::Noted,
            _ => Keep::All,
        }
    }

    /// Whether that is one of them, by how long it took and whether its stats say something.
    #[inline]
    pub(crate) fn admits(self, duration_ps: i64, has_note: bool) -> bool {
        match self {
            Keep::All => true,
            Keep::Noted => has_note,
            Keep::Long => duration_ps >= WAIT_AT_LEAST_PS,
            Keep::No => false,
        }
    }
}

/// The name of some events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// As in the file.
    pub text: String,
    /// What that means.
    pub class: Class,
    /// `[0] GpuExecutable::ExecuteThunks` names a device.
    pub device: Option<i64>,
}

impl Name {
    pub(crate) fn of(text: &str) -> Name {
        let device = text.strip_prefix('[').and_then(|rest| rest.split_once(']')).and_then(|(digits, _)| digits.parse().ok());
        Name { text: text.to_owned(), class: Class::of(text), device }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_class() {
        assert_eq!(Class::of("CommonPjRtLoadedExecutable::Execute (jit_f)"), Class::Execute("jit_f".to_owned()));
        assert_eq!(Class::of("CommonPjRtLoadedExecutable::ExecuteSharded (jit_f)"), Class::Execute("jit_f".to_owned()));
        assert_eq!(Class::of("CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice"), Class::Helper);
        assert_eq!(Class::of("PjRtStreamExecutorLoadedExecutable::ExecuteHelper"), Class::Helper);
        assert_eq!(Class::of("PjitFunction(<lambda>)"), Class::Pjit("<lambda>".to_owned()));
        assert_eq!(Class::of("hipExtModuleLaunchKernel"), Class::Launch);
        assert_eq!(Class::of("$cuLaunchKernel"), Class::Python);
        let name = Name::of("[2] GpuExecutable::ExecuteThunks");
        assert_eq!((name.class, name.device), (Class::Thunks, Some(2)));
    }
}
