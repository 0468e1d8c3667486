//! What goes wrong, one after another and together, as the seed says.
use crate::{
    clients,
    planted::Planted,
    random::Random,
    world::{World, lock},
};
use std::sync::Arc;

/// Faults until the end, and then none.
pub(crate) async fn make(world: Arc<World>, random: Random, until_us: u64, planted: Planted) {
    if planted == Planted::LyingDisks {
        let nodes = world.machines();
        nodes.iter().for_each(|node| lie(&world, *node));
        world.clock.sleep_us(until_us / 2).await;
        nodes.iter().for_each(|node| world.crash(*node));
    }
    while world.clock.now_us() < until_us {
        let nodes = world.machines();
        let one = *random.one_of(&nodes);
        let other = *random.one_of(&nodes);
        world.trace.note(&[world.clock.now_us(), 8]);
        match random.below(14) {
            // Nobody reaches it, and it reaches nobody.
            0 => isolate(&world, &nodes, one),
            1 => {
                if let Some(leader) = world.leader() {
                    isolate(&world, &nodes, leader);
                }
            }
            2 => drop(lock(&world.faults).cut.insert((one, other))),
            // Others hear it, and it hears nobody.
            3 => {
                let mut faults = lock(&world.faults);
                faults.cut.extend(nodes.iter().map(|from| (*from, one)));
            }
            4 => {
                let mut faults = lock(&world.faults);
                faults.lost = random.below(300);
                faults.twice = random.below(300);
                faults.delay_us = random.below(200_000);
            }
            5 | 6 => world.crash(one),
            7 => {
                if let Some(leader) = world.leader() {
                    world.crash(leader);
                }
            }
            // The electricity of the house.
            8 => nodes.iter().for_each(|node| world.crash(*node)),
            9 => world.stop(one).await,
            10 => {
                if let Some(disk) = world.disk(one) {
                    disk.slow_down(random.between(50_000, 1_500_000));
                }
            }
            11 => {
                if let Some(disk) = world.disk(one) {
                    disk.fill(Some(random.below(12)));
                }
            }
            12 => {
                world.set_skew(one, random.below(580) as i64 - 290);
                // By hours for a while, and back.
                let wild = [0, 0, 3 * 3_600, -5_000];
                world.set_wild(one, *random.one_of(&wild));
            }
            _ => clients::sweep(&world, one),
        }
        world.clock.sleep_us(random.between(50_000, 900_000)).await;
        // Some of it is over before the next comes.
        if random.permille(600) {
            end_connections(&world);
        }
        for node in nodes.iter().filter(|_| random.permille(500)) {
            end_disk(&world, *node);
        }
        for node in world.all_stopped() {
            if random.permille(600) {
                world.start(node).await;
                if planted == Planted::LyingDisks {
                    lie(&world, node);
                }
            }
        }
    }
    end_connections(&world);
    let nodes = world.machines();
    nodes.iter().for_each(|node| {
        end_disk(&world, *node);
        world.set_wild(*node, 0);
    });
    for node in world.all_stopped() {
        world.start(node).await;
    }
}

fn lie(world: &World, node: u64) {
    if let Some(disk) = world.disk(node) {
        disk.lie();
    }
}

fn isolate(world: &World, nodes: &[u64], one: u64) {
    let mut faults = lock(&world.faults);
    for other in nodes.iter().filter(|other| **other != one) {
        faults.cut.extend([(one, *other), (*other, one)]);
    }
}

fn end_connections(world: &World) {
    *lock(&world.faults) = crate::world::Faults::default();
}

fn end_disk(world: &World, node: u64) {
    if let Some(disk) = world.disk(node) {
        disk.slow_down(0);
        disk.fill(None);
    }
}
