//! The `encoding` argument of file tools.

use reyn_text::encoding::Encoding;

use crate::tool::ToolError;

/// The encoding that a call names.
///
/// # Errors
/// When there is none of that name.
pub(crate) fn named(label: Option<&str>) -> Result<Option<Encoding>, ToolError> {
    label
        .map(|label| {
            Encoding::by_label(label).ok_or_else(|| {
                ToolError::failed(format!("no encoding is named `{label}`"))
                    .hint("use a name such as `utf-8`, `shift_jis`, `euc-jp`, `gbk` or `latin1`")
            })
        })
        .transpose()
}

/// Says that what is remembered is in one encoding: in another it would not be looked through as it is read.
pub(crate) fn no_note() -> ToolError {
    ToolError::failed("what is remembered is UTF-8, and this would not be").hint("leave `encoding` out")
}
