//! Nodes of one replicated store in a simulated world: every run follows from its seed.
//!
//! The consensus, the store's engine with its SQLite file, and the code that decides what may
//! happen once are the real ones. Time, tasks, randomness, the network and the moments at which a
//! disk writes are handed in (`executor`, `world`, `disk`). Clients redeem single-use values on any
//! node while connections are cut and messages lost, doubled and late, clocks are minutes apart or,
//! for a moment, hours, nodes crash and lose what was not flushed, and disks are slow or full
//! (`trouble`). Every client's answers must be those of one store (`history`),
//! a revocation that was answered must be known to every node that is well (`revocations`), and at
//! the end every node must hold the same rows. Who leads can write (`place`).
//!
//! Nodes of an installation, which `signet-node` makes, join and leave (`installation`, `joins`)
//! while their signing keys rotate (`keys`), and a process moves its store to another disk
//! (`moves`).
//!
//! `SIGNET_SIM_SEED=n` runs one seed alone, `SIGNET_SIM_RUNS=n` as many as wanted.
mod clients;
mod disk;
mod executor;
mod history;
mod installation;
mod joins;
mod keys;
mod moves;
mod place;
mod planted;
mod random;
mod revocations;
mod runs;
mod trouble;
mod world;
