import ArgumentParser
import Encodings
import Entitlements
import Foundation
import LedgerAPI
import LedgerOperations
import Scenarios
import StoreSimulator

/// Where scenarios are.
struct ScenarioOptions: ParsableArguments {
    @Option(help: "A folder of scenarios (default: those that the command has).")
    var scenarios: String?

    /// Reads one by its id, or all in the order of their ids.
    func read(_ id: String?) throws -> [Scenario] {
        guard let scenarios else { return try readPublished(id) }
        if let id { return [try read(file: "\(scenarios)/\(id).json")] }
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: scenarios)
        } catch {
            throw OperationFault(
                .noInput,
                "the folder of the scenarios cannot be read",
                place: scenarios,
                hint: "--scenarios names it"
            )
        }
        return try names.filter { $0.hasSuffix(".json") }.sorted()
            .map { try read(file: "\(scenarios)/\($0)") }
    }

    /// Scenarios by their ids, all without one, each with its number among all.
    func numbered(_ ids: [String]) throws -> [(number: Int, scenario: Scenario)] {
        let all = try read(nil)
        guard all.count <= Self.numberLimit else {
            throw OperationFault(
                .tooLarge,
                "expected \(Self.numberLimit) scenarios at most",
                place: scenarios
            )
        }
        guard !ids.isEmpty else { return Array(all.enumerated()).map { ($0.offset, $0.element) } }
        return try ids.map { id in
            guard let number = all.firstIndex(where: { $0.id.isSame(as: id) }) else {
                throw unknown(id)
            }
            return (number, all[number])
        }
    }

    private static let numberLimit = 1000

    private func readPublished(_ id: String?) throws -> [Scenario] {
        let all = try PublishedScenarios.all()
        guard let id else { return all }
        guard let found = all.first(where: { $0.id.isSame(as: id) }) else {
            throw unknown(id)
        }
        return [found]
    }

    private func unknown(_ id: String) -> OperationFault {
        OperationFault(
            .usage,
            "there is no scenario of that name",
            place: id,
            hint: "`entitle simulate list` lists them; --scenarios names a folder of others"
        )
    }

    private func read(file: String) throws -> Scenario {
        let bytes = try ProofFile.bytes(file)
        do {
            return try Scenario(parsing: bytes)
        } catch {
            throw OperationFault(
                .malformed,
                error.detail,
                place: file + (error.path.isEmpty ? "" : ": " + error.path)
            )
        }
    }
}

extension Simulate {
    /// The command `entitle simulate list`.
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "Lists the scenarios.",
            discussion: HelpText.discussion(
                "With --json an object a line.",
                HelpText.noLedger,
                examples: "entitle simulate list"
            )
        )

        @OptionGroup var common: CommonOptions
        @OptionGroup var options: ScenarioOptions

        func run() throws {
            for scenario in try options.read(nil) {
                if common.json {
                    Terminal.line(
                        .members(["id": .string(scenario.id), "title": .string(scenario.title)])
                    )
                } else {
                    Terminal.line("\(scenario.id): \(scenario.title)")
                }
            }
        }
    }

    /// The command `entitle simulate run`.
    struct Run: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "run",
            abstract: "Plays scenarios against a ledger in memory, and checks what customers have.",
            discussion: HelpText.discussion(
                """
                A scenario says what happens in the stores and what a customer is entitled to at T, as \
                known at R. Messages come at once and in order; with --shuffle up to forty days late, in \
                any order; with --lose some never, and with --outage none for a while in which the stores \
                answer nothing either: then they come as often as a store tries again. What was lost is \
                fetched in the end. Exit 1 where something is otherwise than expected. With --json an \
                object a line.
                """,
                HelpText.noLedger,
                examples: "entitle simulate run --all",
                "entitle simulate run grace_recovered --shuffle 7 --duplicate 20 --lose 30",
                "entitle simulate run --all --outage 40"
            )
        )

        @OptionGroup var common: CommonOptions
        @OptionGroup var options: ScenarioOptions
        @Argument(help: "A scenario's id.") var scenario: String?
        @Flag(help: "All of them.") var all = false
        @Option(help: "A seed that makes the order in which messages come.") var shuffle: UInt64?
        @Option(help: "So many of 100 messages come twice.") var duplicate = 0
        @Option(help: "So many of 100 messages never come.") var lose = 0
        @Option(help: "Nothing comes, and no store answers, for so many of 100 parts of the time.")
        var outage = 0
        @Option(help: "Plays each so often, with seeds from --shuffle on.") var times = 1

        private static let timesLimit = 10_000

        func run() throws {
            guard (scenario == nil) == all else {
                throw OperationFault(.usage, "give a scenario, or --all")
            }
            guard [duplicate, lose, outage].allSatisfy((0...100).contains) else {
                throw OperationFault(.usage, "--duplicate, --lose and --outage are 0 to 100")
            }
            guard (1...Self.timesLimit).contains(times) else {
                throw OperationFault(.usage, "expected 1 to \(Self.timesLimit)", place: "--times")
            }
            let keys = try ScenarioRun.keys()
            var failed = 0
            for scenario in try options.read(scenario) {
                let failures = try play(scenario, keys)
                failed += failures.count
                tell(scenario, failures)
            }
            if failed > 0 { throw ExitCode(.no) }
        }

        /// The first delivery that does not end as expected; empty: all do.
        private func play(
            _ scenario: Scenario,
            _ keys: SimulatedKeys
        ) throws -> [ScenarioFailure] {
            let run = try ScenarioRun(scenario, keys: keys)
            let isShuffled =
                shuffle != nil || times > 1 || [duplicate, lose, outage].contains { $0 > 0 }
            for number in 0..<UInt64(times) {
                let delivery = ScenarioDelivery(
                    seed: isShuffled ? (shuffle ?? 0) &+ number : nil,
                    duplicatePercent: duplicate,
                    losePercent: lose,
                    outagePercent: outage
                )
                let failures = try Blocking.value { try await run.run(delivery) }
                guard !failures.isEmpty else { continue }
                return failures.map { failure in
                    guard let seed = delivery.seed else { return failure }
                    var failure = failure
                    failure.detail += " (--shuffle \(seed))"
                    return failure
                }
            }
            return []
        }

        private func tell(_ scenario: Scenario, _ failures: [ScenarioFailure]) {
            let details = failures.map { "expect[\($0.expectation)]: \($0.detail)" }
            if common.json {
                Terminal.line(
                    .members([
                        "id": .string(scenario.id), "ok": .bool(failures.isEmpty),
                        "failures": .strings(details),
                    ])
                )
            } else if failures.isEmpty {
                Terminal.line("ok      \(scenario.id)")
            } else {
                Terminal.line("failed  \(scenario.id)")
                for detail in details { Terminal.line("        " + detail) }
            }
        }
    }
}
