//! HTTP: endpoints, pages, admin API, middleware.
