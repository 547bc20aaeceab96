//! The presentation that shows every tool by its own name.

use super::{Catalog, Surface};

/// All of the catalog, in name order.
#[must_use]
pub fn surface(catalog: &Catalog) -> Surface {
    Surface::new(catalog.callables().to_vec())
}
