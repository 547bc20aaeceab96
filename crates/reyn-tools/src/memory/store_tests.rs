//! Notes on a real disk.
