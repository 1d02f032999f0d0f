import Encodings
import Foundation
import ModelSupport
import Testing

/// The whole engine over a simulated clock, randomness and disk.
///
/// `ENTITLE_SIMULATIONS` sets how many schedules are played, `ENTITLE_SEED` the first one's seed.
struct `Simulation of an engine among callers, faults and crashes` {
    private static let environment = ProcessInfo.processInfo.environment
    private static let count =
        environment["ENTITLE_SIMULATIONS"].flatMap(UInt64.init) ?? 300
    private static let firstSeed =
        environment["ENTITLE_SEED"].flatMap(UInt64.init) ?? .random(in: 0 ... .max)
    /// Schedules in which a planted bug must be found.
    private static let controlCount: UInt64 = 400

    // E1 to E4, T3, C2, C4, C5, law 2
    @Test func `no schedule breaks an invariant`() async throws {
        let failed = try await Self.firstFailure(from: Self.firstSeed, count: Self.count)
        #expect(failed == nil, "ENTITLE_SEED=\(failed?.seed ?? 0): \(failed?.failure ?? "")")
    }

    // The process dies while the engine looks whether a commit stands that it was not told of: the
    // caller hears of the commit, the next step finds the process dead.
    @Test func `a death behind another fault is one`() async throws {
        try await withScratchDirectory { folder in
            let simulation = try Simulation(seed: 0, folder: folder)
            try await simulation.playDeathBehindFault()
            let trace = await simulation.trace
            #expect(trace.count == 3, "\(trace)")
            #expect(trace.first == "dies at read")
            #expect(trace[1].contains("outcomeUnknown"))
            #expect(trace.last?.hasSuffix(" events") ?? false, "it was opened again, and checked")
        }
    }

    @Test func `a seed plays the same schedule again`() async throws {
        for seed in Self.firstSeed..<(Self.firstSeed &+ 5) {
            let traces = try await [Self.trace(seed), Self.trace(seed)]
            #expect(traces[0] == traces[1], "ENTITLE_SEED=\(seed)")
            #expect(traces[0].count > Simulation.stepCount / 2)
        }
    }

    // The controls.
    @Test(arguments: SimulatedDefect.allCases)
    func `a planted bug is found`(defect: SimulatedDefect) async throws {
        let failed = try await Self.firstFailure(
            from: Self.firstSeed,
            count: Self.controlCount,
            defect
        )
        let seed = try #require(failed?.seed, "not found, ENTITLE_SEED=\(Self.firstSeed)")
        // The same schedule without the bug breaks nothing.
        #expect(try await Self.failure(seed, nil) == nil)
    }

    private static func trace(_ seed: UInt64) async throws -> [String] {
        try await withScratchDirectory { folder in
            let simulation = try Simulation(seed: seed, folder: folder)
            try await simulation.play()
            return await simulation.trace
        }
    }

    private typealias Failed = (seed: UInt64, failure: String)

    /// Plays until an invariant breaks, on both cores.
    private static func firstFailure(
        from first: UInt64,
        count: UInt64,
        _ defect: SimulatedDefect? = nil
    ) async throws -> Failed? {
        let laneCount: UInt64 = 2
        return try await withThrowingTaskGroup(of: Failed?.self) { group in
            for lane in 0..<laneCount {
                group.addTask {
                    for offset in stride(from: lane, to: count, by: Int(laneCount)) {
                        if Task.isCancelled { return nil }
                        let seed = first &+ offset
                        if let failure = try await failure(seed, defect) { return (seed, failure) }
                    }
                    return nil
                }
            }
            for try await failed in group where failed != nil {
                group.cancelAll()
                return failed
            }
            return nil
        }
    }

    private static func failure(_ seed: UInt64, _ defect: SimulatedDefect?) async throws -> String?
    {
        try await withScratchDirectory { folder in
            let simulation = try Simulation(seed: seed, folder: folder, defect: defect)
            do {
                try await simulation.play()
                return nil
            } catch {
                return "\(error)\n" + (await simulation.trace.joined(separator: "\n"))
            }
        }
    }
}
