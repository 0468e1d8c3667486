//! The distributed engine, over a real server.
