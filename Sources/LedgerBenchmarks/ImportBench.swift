import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import LedgerOperations
import Stores

/// Lines through the importer, end to end.
struct ImportBench {
    let plan: BenchPlan

    func rows() throws -> [BenchRow] { try events() + webhooks() + notifications() }

    private func events() throws -> [BenchRow] {
        let headings = BenchHeading.events(
            "import",
            against: "Foundation's JSONDecoder alone, the same lines, one core"
        )
        return try withFile { path in
            let file = EventsFile(path: path)
            let count = try file.write(BenchEvents(about: plan.events, steps: 10))
            return try plan.rows(headings) { _ in
                let ours = try importing(path, count)
                return ours.runs(of: Double(count), reference: try file.decodingSeconds())
            }
        }
    }

    /// Webhooks that name their owner, each of which comes to several events and sealed evidence.
    private func webhooks() throws -> [BenchRow] {
        let headings = BenchHeading.events(
            "import-webhooks",
            unit: "webhooks/s",
            against: "as many plain events, imported in the same run"
        )
        let messages = BenchMessages(count: plan.events / 10)
        return try withFile { path in
            try withFile { plain in
                try messages.writeWebhooks(to: path)
                let events = BenchEvents(about: messages.count, steps: 10)
                let count = try EventsFile(path: plain).write(events)
                return try plan.rows(headings) { _ in
                    let theirs = try importing(plain, count)
                    let each = theirs.seconds / Double(count)
                    return try importing(path, messages.count)
                        .runs(of: Double(messages.count), reference: each * Double(messages.count))
                }
            }
        }
    }

    /// Notifications of real size, beside their verification alone.
    private func notifications() throws -> [BenchRow] {
        let headings = BenchHeading.events(
            "import-notifications",
            unit: "notifications/s",
            against: "their verification alone, on two cores"
        )
        let messages = BenchMessages(count: max(200, plan.events / 100))
        return try withFile { path in
            let (signed, verifier) = try messages.writeNotifications(to: path)
            return try plan.rows(headings) { _ in
                let reference = try Self.verifyingSeconds(signed, verifier)
                return try importing(path, messages.count, verifier)
                    .runs(of: Double(messages.count), reference: reference)
            }
        }
    }

    private func withFile<Result>(_ body: (String) throws -> Result) throws -> Result {
        let path = plan.fresh("lines") + ".ndjson"
        // What is left behind stands in the system's temporary directory.
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try body(path)
    }

    /// What it costs until all lines stand durably in a new ledger, its views caught up.
    private func importing(
        _ file: String,
        _ count: Int,
        _ verifier: AppStoreVerifier? = nil
    ) throws -> Cost {
        let bench = try BenchLedger(making: plan.fresh("ledger"))
        let cost = try Stopwatch.cost {
            var options = Importer.Options()
            options.appStore = verifier
            var importer = Importer(bench.ledger, options)
            try importer.run([file])
            try requireRight(importer.report.appended == count, "all are imported")
            _ = try bench.ledger.prover.checkpoint()
            try bench.close()
        }
        try bench.discard()
        return cost
    }

    /// Seconds in which two tasks verify all messages.
    private static func verifyingSeconds(
        _ signed: [[UInt8]],
        _ verifier: AppStoreVerifier
    ) throws -> Double {
        var accepted = 0
        let seconds = Stopwatch.seconds {
            accepted = Blocking.wait {
                await VerifyBench.passing(signed.indices, tasks: 2) { index in
                    await VerifyBench.isAccepted(signed[index], by: verifier)
                }
            }
        }
        try requireRight(accepted == signed.count, "all messages are accepted")
        return seconds
    }
}
