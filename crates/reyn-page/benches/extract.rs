//! What reading a page costs.

fn main() {}
