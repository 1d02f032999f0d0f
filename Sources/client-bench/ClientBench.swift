import Crypto
import Encodings
import EntitlementClient
import Entitlements
import LedgerBenchmarks
import LedgerOperations

/// What an app's library costs: a gate that is asked, and what a client keeps in memory (row CL6).
///
/// The client is one as an app has it: it took what it knows from a signed snapshot of a server.
struct ClientBench {
    let plan: BenchPlan

    private static let featureCount = 100
    /// Questions of one sample: one alone is shorter than what a clock can tell.
    private static let batchSize = 1000
    /// Clients among whom memory is shared out.
    private static let copies = 400

    func rows() throws -> [BenchRow] { try isOpen() + [memory()] }

    // MARK: A gate

    private func isOpen() throws -> [BenchRow] {
        let service = try Server().client(in: plan.fresh("client"))
        let names = (0..<Self.featureCount).map(Self.name)
        let table = Dictionary(names.map { (Name($0), true) }) { first, _ in first }
        let samples = plan.isQuick ? 200 : 2000
        let heading = BenchHeading("client-is-open", unit: "ns p50", against: "dictionary")
        return try plan.rows([heading]) { run in
            var random = SystemRandomNumberGenerator()
            let asked = (0..<Self.batchSize).map { _ in
                names[Int.random(in: names.indices, using: &random)]
            }
            var (ours, dictionary) = (Samples(), Samples())
            var count = 0
            for _ in 0..<samples {
                ours.add(
                    Stopwatch.nanoseconds {
                        for name in asked where service.gate.isOpen(name) { count += 1 }
                    }
                )
                dictionary.add(
                    Stopwatch.nanoseconds {
                        for name in asked where table[Name(name)] == true { count += 1 }
                    }
                )
            }
            try requireRight(
                count == 2 * samples * Self.batchSize && !service.gate.isOpen("closed"),
                "what is sold is open, and nothing else"
            )
            return [
                BenchRun(
                    value: ours.median / Double(Self.batchSize),
                    reference: dictionary.median / Double(Self.batchSize)
                )
            ]
        }
    }

    // MARK: Memory

    private func memory() throws -> BenchRow {
        let heading = BenchHeading("client-memory", unit: "KiB", against: nil)
        let (server, folder) = (Server(), plan.fresh("client"))
        // Held until the end: what a run lets go, the next would take from.
        var all: [EntitlementService] = []
        return try plan.row(heading) { _ in
            let before = MemoryBench.anonymousBytes(of: "self")
            let clients = try (0..<Self.copies).map { _ in try server.client(in: folder) }
            let after = MemoryBench.anonymousBytes(of: "self")
            all += clients
            try requireRight(
                all.allSatisfy { $0.gate.isOpen(Self.name(0)) },
                "what is known is kept"
            )
            return BenchRun(value: max(0, after - before) / Double(Self.copies) / 1024)
        }
    }

    private static func name(_ number: Int) -> String { "feature-\(number)" }

    // MARK: What is known

    /// Answers as a server does, by a key of its own.
    private struct Server {
        private let key = Curve25519.Signing.PrivateKey()

        private static let keyName = "bench"
        private static let customer: CustomerID = "alice"
        private let instant = SystemClock.now()
        private let began = ContinuousClock.now

        /// A client that has asked, by clocks as an app has them.
        func client(in folder: String) throws -> EntitlementService {
            let snapshot = try Array(signed(claims()).utf8)
            var configuration = ServiceConfiguration(
                serverURL: "https://ledger.test",
                folder: folder,
                customer: Self.customer,
                time: ClientTime(
                    now: SystemClock.now,
                    sleep: { _ in try await Task.sleep(for: .seconds(3600)) },
                    uptime: { [began] in
                        let passed = (ContinuousClock.now - began).components
                        // Fits: the time for which a program runs.
                        return passed.seconds &* 1000
                            &+ passed.attoseconds / 1_000_000_000_000_000
                    }
                ),
                transport: { _ in ClientResponse(status: 200, body: snapshot) },
                token: { "token" }
            )
            configuration.pinnedKeys = try TrustedKeys(jwks: keys)
            let service = EntitlementService(configuration)
            let result = Blocking.wait { await service.start() }
            try requireRight(result == .refreshed(instant), "the client asked")
            return service
        }

        private var keys: String {
            let x = Base64.encode(Array(key.publicKey.rawRepresentation).span, .url)
            return #"{"keys":[{"kty":"OKP","crv":"Ed25519","alg":"EdDSA","use":"sig","#
                + #""kid":"\#(Self.keyName)","x":"\#(x)"}]}"#
        }

        private func signed(_ claims: JSONValue) throws -> String {
            let header = #"{"alg":"EdDSA","kid":"\#(Self.keyName)","typ":"entitlements+jwt"}"#
            let text = [header, claims.description]
                .map { Base64.encode(Array($0.utf8).span, .url) }
                .joined(separator: ".")
            let signature = Array(try key.signature(for: Array(text.utf8)))
            return text + "." + Base64.encode(signature.span, .url)
        }

        /// What a snapshot says of a customer with so many features.
        private func claims() -> JSONValue {
            let details = (0..<ClientBench.featureCount).map { number in
                JSONMember(
                    ClientBench.name(number),
                    .members([
                        "reason": "purchase", "limit": .null,
                        "sources": .strings(["app_store/30000001000000\(number)"]),
                    ])
                )
            }
            let stretches = (0..<ClientBench.featureCount).map { number in
                JSONMember(
                    ClientBench.name(number),
                    .array([
                        .members([
                            "from": .instant(instant),
                            "to": .instant(instant.advanced(byMilliseconds: 2_592_000_000)),
                        ])
                    ])
                )
            }
            return .members([
                "sub": .string(Self.customer.text), "environment": "production", "tier": "pro",
                "at": .instant(instant), "exp": .integer(instant.milliseconds / 1000 + 2_592_000),
                "sequence": .integer(7),
                "features": .object(details), "stretches": .object(stretches),
            ])
        }
    }
}
