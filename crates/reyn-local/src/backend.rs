//! llama.cpp's process-wide part: started once, silenced, and only on a processor it was built for.

use std::sync::OnceLock;

use llama_cpp_2::llama_backend::LlamaBackend;
use reyn_llm::{ModelError, ModelErrorKind};

static BACKEND: OnceLock<Result<LlamaBackend, String>> = OnceLock::new();

/// The backend, started at the first call.
pub(crate) fn backend() -> Result<&'static LlamaBackend, ModelError> {
    let started = BACKEND.get_or_init(|| {
        if let Some(missing) = missing_instruction_set() {
            return Err(format!(
                "this program's local model needs a processor with {missing}, which this one lacks; \
                 build it with `GGML_AVX=OFF GGML_AVX2=OFF GGML_FMA=OFF GGML_F16C=OFF GGML_BMI2=OFF`, \
                 or choose a model on a server"
            ));
        }
        let mut backend = LlamaBackend::init().map_err(|error| format!("llama.cpp: {error}"))?;
        backend.void_logs();
        Ok(backend)
    });
    started.as_ref().map_err(|message| ModelError::new(ModelErrorKind::Local, message.clone()))
}

/// The first instruction set that llama.cpp was compiled for and this processor lacks. llama.cpp takes
/// its `GGML_*` switches from the environment of the build, so the same switches are read here.
#[cfg(target_arch = "x86_64")]
fn missing_instruction_set() -> Option<&'static str> {
    let is_on = |switch: Option<&str>| switch != Some("OFF");
    [
        (is_on(option_env!("GGML_AVX")), std::arch::is_x86_feature_detected!("avx"), "AVX"),
        (is_on(option_env!("GGML_AVX2")), std::arch::is_x86_feature_detected!("avx2"), "AVX2"),
        (is_on(option_env!("GGML_FMA")), std::arch::is_x86_feature_detected!("fma"), "FMA"),
        (is_on(option_env!("GGML_F16C")), std::arch::is_x86_feature_detected!("f16c"), "F16C"),
        (is_on(option_env!("GGML_BMI2")), std::arch::is_x86_feature_detected!("bmi2"), "BMI2"),
    ]
    .into_iter()
    .find_map(|(is_needed, is_there, name)| (is_needed && !is_there).then_some(name))
}

#[cfg(not(target_arch = "x86_64"))]
const fn missing_instruction_set() -> Option<&'static str> {
    None
}
