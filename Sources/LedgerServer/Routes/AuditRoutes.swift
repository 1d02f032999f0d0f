import EntitlementLedger
import Entitlements
import EventLog
import HTTPTypes
import LedgerAPI
import LedgerOperations
import Stores
import Synchronization

/// What checks the ledger that is served, all of it or customers of it.
extension RouteTable {
    static let auditRoutes = [
        Route(
            method: .get,
            template: "/v1/audit",
            operation: "auditLedger",
            summary: "Checks the ledger against its hashes, keys and views; one audit at a time.",
            access: .keys([.audit]),
            parameters: [
                Route.Parameter(
                    name: "scope",
                    text: "What is looked at (default: everything)",
                    shape: .choice(AuditScope.allCases.map { "\($0)" })
                ),
                Route.Parameter(
                    name: "against",
                    text: "A checkpoint that somebody noted down: shows that the log extends it"
                ), minimumSequence,
            ],
            answers: [Route.Reply(status: 200, text: "What was found", shape: .named("Audit"))],
            problems: [.invalidValue, .badSignature],
            handler: audit
        ),
        Route(
            method: .get,
            template: "/v1/drift",
            operation: "checkDrift",
            summary: "Folds customers again from the log, and compares with what the views answer.",
            access: .keys([.audit]),
            parameters: [
                environmentParameter,
                Route.Parameter(
                    name: "sample",
                    text:
                        "About so many, from a random one on (default: \(CustomerSample.usualCount))",
                    shape: .field(.integer(1...Int64(Int32.max)))
                ),
                Route.Parameter(
                    name: "all",
                    text: "Whether all of them; excludes sample (default: false)",
                    shape: .boolean
                ), minimumSequence,
            ],
            answers: [
                Route.Reply(status: 200, text: "As `drift`", shape: .described(DriftAnswer.self))
            ],
            problems: [.invalidValue],
            handler: drift
        ),
        Route(
            method: .post,
            template: "/v1/replay",
            operation: "replayLedger",
            summary: """
                Folds everything again and compares; of a prefix, a customer or tokens the answers of \
                then, and the evidence is judged again.
                """,
            access: .keys([.audit]),
            parameters: pointParameters + [Route.reasonParameter],
            body: Route.Body(
                shape: .object(
                    [],
                    optional: [
                        Shape.Member("customer", .identifier, about: "Absent: everybody"),
                        Shape.Member(
                            "tokens",
                            .list(.described(GivenToken.self)),
                            about: "Decision tokens that are asked again"
                        ),
                    ],
                    isClosed: true
                ),
                byteLimit: catalogByteLimit
            ),
            answers: [
                Route.Reply(status: 200, text: "As `replay`", shape: .described(ReplayAnswer.self))
            ],
            problems: questionProblems + [.invalidValue],
            handler: replay
        ),
    ]

    @Sendable
    private static func replay(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let asked = try call.askedReplay()
        // Whoever is shown no names would learn who is known, and whose token is whose.
        guard asked.customers.isEmpty || call.caller.has(anyOf: [.read, .support]) else {
            throw Problem(.forbidden, Call.namesOfAuditors)
        }
        let environment = try call.environment()
        let point = try call.point()
        let run = ReplayRun(
            at: point,
            in: environment,
            of: asked.customer,
            hasTokens: asked.tokens != nil
        )
        let verifier = service.evidenceVerifier
        // Who is looked at is noted behind the answer.
        guard service.accesses.hasRoom else { throw Problem.accessesFull }
        try await service.require(call.minimumSequence())
        let (answer, size) = try await service.reports.make {
            let size = try service.ledger.questions.prefix(knownAt: point.knownAt)
            var left = (asked.tokens ?? [])[...]
            let answer = try run.run(
                service.ledger.auditor,
                judging: verifier,
                tokens: { left.popFirst() }
            )
            return (answer, size)
        }
        for access in call.looks(at: asked.customers, in: environment, "replayLedger") {
            service.accesses.add(access)
        }
        return Answer(answer).at(size: size)
    }

    @Sendable
    private static func drift(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let environment = try call.environment()
        let isOfAll = try call.flag(.all)
        let count = try call.query[.sample].map { text throws(Problem) in
            guard let count = Int32(text), count > 0, !isOfAll else {
                throw Problem(.invalidValue, "expected 1 or more, and not all", path: "sample")
            }
            return Int(count)
        }
        try await service.require(call.minimumSequence())
        let now = call.now
        let answer = try await service.reports.make {
            let auditor = service.ledger.auditor
            return try auditor.drift(
                of: CustomerSample(
                    from: isOfAll ? 0 : .random(in: 0...auditor.highestSampleStart()),
                    count: isOfAll ? nil : count ?? CustomerSample.usualCount
                ),
                environment: environment,
                at: now
            ).answer
        }
        return Answer(answer).at(size: answer.sequence)
    }

    @Sendable
    private static func audit(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let name = call.query[.scope] ?? "\(AuditScope.everything)"
        guard let scope = AuditScope.allCases.first(where: { "\($0)" == name }) else {
            throw Problem(
                .invalidValue,
                "expected everything, hashes or quick",
                path: "scope"
            )
        }
        try await service.require(call.minimumSequence())
        let against = call.checkpointAgainst
        // Whoever sends no checkpoint is not to wait for an audit to learn it.
        let difference = try await service.blocking {
            try against.map { try service.ledger.fault(against: $0) } ?? nil
        }
        var answer = try await service.audit(scope, .asked)
        if let difference { answer.faults.append(difference) }
        // Of a damaged copy it cannot be read which history it is: its faults are to be told (Several machines).
        guard service.cluster == nil || !answer.isCopyDamaged else { return Answer(answer) }
        return Answer(answer).at(size: answer.treeSize)
    }
}

/// What somebody asks to be replayed, as it is read.
private struct AskedReplay {
    /// Whom it is about; nil: everybody.
    var customer: CustomerID?
    /// Each nil where it is no token, and who is meant; nil: none are asked again.
    var tokens: [(token: DecisionToken?, customer: CustomerID?)]?

    /// Who is named, each once.
    var customers: [CustomerID] {
        var met: Set<CustomerID> = []
        return ([customer] + (tokens ?? []).map(\.customer)).compactMap(\.self)
            .filter { met.insert($0).inserted }
    }
}

extension Call {
    fileprivate func askedReplay() throws -> AskedReplay {
        let request: ReplayRequest
        do {
            request = try ReplayRequest.fields.read(object("customer", "tokens"))
        } catch let fault as InputFault {
            throw Problem(fault)
        }
        guard request.tokens?.count ?? 0 <= ReplayRequest.tokenLimit else {
            throw Problem(
                .invalidValue,
                "expected \(ReplayRequest.tokenLimit) tokens at most",
                path: "tokens"
            )
        }
        var asked = AskedReplay()
        asked.customer = try request.customer.map { try Self.customer($0, "customer") }
        asked.tokens = try request.tokens?.enumerated().map { index, given in
            let customer = try given.customer.map {
                try Self.customer($0, "tokens[\(index)].customer")
            }
            return (given.token.flatMap { DecisionToken($0) }, customer ?? asked.customer)
        }
        return asked
    }

    private static func customer(_ text: String, _ path: String) throws(Problem) -> CustomerID {
        guard let customer = CustomerID(text) else {
            throw Problem(.invalidValue, "expected an id", path: path)
        }
        return customer
    }
}

extension Call {
    /// The checkpoint that the log is held against, as it was signed; nil: none was sent.
    ///
    /// A form's encoding writes a space as `+`, which in a query is itself: it may be base64's. In a line
    /// that begins with a dash and `+` the first two are spaces: a key's name holds neither (C2SP
    /// signed-note).
    var checkpointAgainst: String? {
        guard let note = query[.against] else { return nil }
        let (newline, plus) = (UInt8(ascii: "\n"), UInt8(ascii: "+"))
        let lines = Array(note.utf8).split(separator: newline, omittingEmptySubsequences: false)
        let read = lines.map { line -> [UInt8] in
            var line = Array(line)
            guard line.starts(with: "\u{2014}+".utf8) else { return line }
            for place in line.indices.filter({ line[$0] == plus }).prefix(2) {
                line[place] = UInt8(ascii: " ")
            }
            return line
        }
        return String(decoding: Array(read.joined(separator: [newline])), as: UTF8.self)
    }
}

extension Ledger {
    /// What is wrong where the log does not extend a checkpoint; nil: it does.
    func fault(against note: String) throws -> AuditFault? {
        do {
            return try prover.fault(against: note)
        } catch let fault as NoteFault {
            throw Problem(.badSignature, fault.message, path: "against")
        }
    }
}

/// Lets one audit run at a time: it reads the whole log, on all cores.
final class AuditGate: Sendable {
    private let isRunning = Atomic(false)
    private let blocking: Blocking

    /// Does what waits for the disk.
    typealias Blocking =
        @Sendable (
            _ body: @escaping @Sendable () throws -> AuditAnswer
        ) async throws -> AuditAnswer

    private static let retrySeconds = 30

    init(_ blocking: @escaping Blocking) { self.blocking = blocking }

    /// Runs an audit.
    ///
    /// - Throws: `Problem.busy` while another one runs; what the body throws.
    func run(_ body: @escaping @Sendable () throws -> AuditAnswer) async throws -> AuditAnswer {
        guard !isRunning.exchange(true, ordering: .acquiringAndReleasing) else {
            throw Problem(.busy, "an audit runs already", retryAfter: Self.retrySeconds)
        }
        defer { isRunning.store(false, ordering: .releasing) }
        return try await blocking(body)
    }
}
