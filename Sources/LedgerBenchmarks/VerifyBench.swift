import Crypto
import Encodings
import Entitlements
import LedgerOperations
import StoreSimulator
import Stores

/// What it costs to believe the App Store, beside the bare signature check that it comes down to.
struct VerifyBench {
    let plan: BenchPlan

    private static let start = Instant(milliseconds: 1_767_225_600_000)
    private static let year = 365 * Instant.millisecondsPerDay
    /// By our clock: what is signed by then was signed long ago.
    private static let now = start.advanced(byMilliseconds: year)
    private static let referenceName = "bare P-256 verifications of the same bytes, hash included"

    func rows() throws -> [BenchRow] {
        let authority = try SigningAuthority(
            validity: Self.start.advanced(byMilliseconds: -Self.year)..<Self.now
        )
        let store = SimulatedAppStore(authority: authority)
        let verifier = try AppStoreVerifier(
            AppStoreConfiguration(
                bundleIDs: [store.bundleID],
                appAppleID: store.appAppleID,
                roots: [authority.root]
            )
        )
        let count = plan.isQuick ? 1_000 : 10_000
        let transactions = try (0..<count).map { number in
            try store.transaction(
                start: Self.start,
                .members(["transactionId": .string(String(number))])
            )
        }
        let notifications = try (0..<count / 10).map { number in
            try store.notification("DID_RENEW", id: "n\(number)", start: Self.start)
        }
        // A notification's own bytes and those of the two messages in it.
        let signed = try BareSignatures(transactions)
        let nested = try BareSignatures(
            notifications
                + Array(transactions.prefix(2 * notifications.count))
        )
        return [
            try row("verify-transaction", "transactions/s", signed) {
                await Self.passing(transactions.indices, tasks: 1) {
                    await Self.isAccepted(transactions[$0], by: verifier)
                }
            },
            try row("verify-transaction-2", "transactions/s on two cores", signed, tasks: 2) {
                await Self.passing(transactions.indices, tasks: 2) {
                    await Self.isAccepted(transactions[$0], by: verifier)
                }
            },
            try row("verify-notification", "notifications/s, three signatures", nested, each: 3) {
                await Self.passing(notifications.indices, tasks: 1) {
                    await Self.isAccepted(notifications[$0], by: verifier)
                }
            },
        ]
    }

    static func isAccepted(_ jws: [UInt8], by verifier: AppStoreVerifier) async -> Bool {
        if case .success = await verifier.signal(jws, expecting: nil, now: now) {
            true
        } else {
            false
        }
    }

    /// Both sides one right after the other, by as many tasks.
    private func row(
        _ name: String,
        _ unit: String,
        _ signatures: BareSignatures,
        each signaturesEach: Int = 1,
        tasks: Int = 1,
        _ body: @escaping @Sendable () async -> Int
    ) throws -> BenchRow {
        // The chain is known, as it is to a server that runs.
        _ = Blocking.wait(body)
        let count = signatures.indices.count / signaturesEach
        let heading = BenchHeading(name, unit: unit, against: Self.referenceName)
        return try plan.row(heading) { _ in
            var (accepted, valid) = (0, 0)
            let ours = Stopwatch.seconds { accepted = Blocking.wait(body) }
            try requireRight(accepted == count, "all messages are accepted")
            let theirs = try plan.reference {
                let seconds = Stopwatch.seconds {
                    valid = Blocking.wait {
                        await Self.passing(signatures.indices, tasks: tasks) {
                            signatures.isValid($0)
                        }
                    }
                }
                try requireRight(valid == signatures.indices.count, "all signatures are valid")
                return seconds
            }
            return BenchRun(
                value: Double(count) / ours,
                reference: theirs.map { Double(count) / $0 }
            )
        }
    }

    /// How many pass, split over some tasks.
    static func passing(
        _ indices: Range<Int>,
        tasks: Int,
        _ passes: @escaping @Sendable (Int) async -> Bool
    ) async -> Int {
        await withTaskGroup(of: Int.self) { group in
            for task in 0..<tasks {
                group.addTask(executorPreference: globalConcurrentExecutor) {
                    var count = 0
                    for index in stride(from: task, to: indices.upperBound, by: tasks) {
                        if await passes(index) { count += 1 }
                    }
                    return count
                }
            }
            return await group.reduce(0, +)
        }
    }
}

/// The reference: what was signed in each message, signed by one key of its own.
private struct BareSignatures: Sendable {
    private let key: P256.Signing.PublicKey
    private let items: [(bytes: [UInt8], signature: P256.Signing.ECDSASignature)]

    init(_ messages: [[UInt8]]) throws {
        let key = P256.Signing.PrivateKey()
        self.key = key.publicKey
        items = try messages.map { message in
            let end = message.lastIndex(of: UInt8(ascii: ".")) ?? message.count
            let bytes = Array(message[..<end])
            return (bytes, try key.signature(for: bytes))
        }
    }

    var indices: Range<Int> { items.indices }

    func isValid(_ index: Int) -> Bool {
        key.isValidSignature(items[index].signature, for: items[index].bytes)
    }
}
