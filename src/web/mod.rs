//! The wasm boundary: the only part that knows JavaScript. Four kinds of instances run it: the page's own (draws, must not block), one
//! scanner a capture (reads files in slices, then ends), helpers that read ranges of large traces for the scanners, and the engine (owns the
//! session, answers questions).

pub mod blob;
pub mod canvas;
pub mod columns;
pub mod derived;
pub mod engine;
pub mod jax;
pub mod messages;
pub mod parts;
pub mod queries;
pub mod scanner;
pub mod selftest;

use wasm_bindgen::prelude::*;

#[cfg(feature = "threads")]
pub use wasm_bindgen_rayon::init_thread_pool;

/// How many threads share the work of this instance.
#[wasm_bindgen]
pub fn threads() -> u32 {
    rayon::current_num_threads() as u32
}

/// Makes a panic tell its place: on the console, and in a worker to the page, before the trap ends the instance.
#[wasm_bindgen]
pub fn set_panic_hook() {
    std::panic::set_hook(Box::new(|info| {
        let message = info.to_string();
        web_sys::console::error_1(&message.as_str().into());
        if let Ok(worker) = js_sys::global().dyn_into::<web_sys::DedicatedWorkerGlobalScope>() {
            let note = js_sys::Object::new();
            let set = |key: &str, value: &str| js_sys::Reflect::set(&note, &key.into(), &value.into());
            let _ = set("type", "panic").and_then(|_| set("message", &message));
            let _ = worker.post_message(&note);
        }
    }));
}
