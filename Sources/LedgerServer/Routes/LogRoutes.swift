import EntitlementLedger
import Entitlements
import EventLog
import HTTPTypes
import LedgerAPI

/// The log for those who check it: C2SP tlog-tiles, and proofs.
///
/// Hash tiles say nothing of anybody; records, though pseudonymous, show revenue.
extension RouteTable {
    static let logRoutes = [
        Route(
            method: .get,
            template: "/checkpoint",
            operation: "readCheckpoint",
            summary: "The newest signed size and root of the log (C2SP tlog-checkpoint).",
            access: .transparency([.audit]),
            answers: [
                Route.Reply(
                    status: 200,
                    text: "A signed note",
                    shape: .text,
                    mediaType: noteType
                ),
                Route.Reply(status: 304, text: "As the caller has it already", shape: nil),
            ],
            problems: [.notFound],
            handler: checkpoint
        ),
        Route(
            method: .get,
            template: "/tile/entries/{place}",
            takesRest: true,
            operation: "readRecords",
            summary: "Up to 256 records, sealed, each behind its length (C2SP tlog-tiles).",
            access: .keys([.audit]),
            answers: [binary("Records")],
            problems: [.notFound],
            handler: records
        ),
        Route(
            method: .get,
            template: "/tile/{level}/{place}",
            takesRest: true,
            operation: "readTile",
            summary: "Up to 256 hashes of the log's tree (C2SP tlog-tiles).",
            access: .transparency([.audit]),
            answers: [binary("Hashes of 32 bytes")],
            problems: [.notFound],
            handler: tile
        ),
        Route(
            method: .get,
            template: "/v1/proofs/{sequence}",
            operation: "proveRecord",
            summary: "Proves that an event stands in the log (C2SP tlog-proof in `proof`).",
            access: .keys([.audit]),
            parameters: [minimumSequence],
            answers: [
                Route.Reply(status: 200, text: "The proof", shape: .named("InclusionProofFile"))
            ],
            problems: [.notFound],
            handler: prove
        ),
        Route(
            method: .get,
            template: "/v1/consistency/{size}",
            operation: "proveGrowth",
            summary: "Proves that the log extends its first events (C2SP tlog-witness in `proof`).",
            access: .transparency([.audit]),
            parameters: [
                Route.Parameter(
                    name: "against",
                    text: "The checkpoint of that size: refused where the log does not extend it"
                ), minimumSequence,
            ],
            answers: [
                Route.Reply(status: 200, text: "The proof", shape: .named("ConsistencyProofFile"))
            ],
            problems: [.notFound, .badSignature, .invalidValue, .otherHistory],
            handler: proveGrowth
        ),
    ]

    private static let noteType = "text/plain; charset=utf-8"
    private static let binaryType = "application/octet-stream"

    private static func binary(_ text: String) -> Route.Reply {
        Route.Reply(status: 200, text: text, shape: .anything, mediaType: binaryType)
    }

    @Sendable
    private static func checkpoint(_: Call, _ service: LedgerService) async throws -> Answer {
        let note = try await service.blocking { try service.ledger.prover.checkpointNote() }
        guard let note else { throw Problem(.notFound, "no checkpoint was signed yet") }
        var answer = Answer(text: note, mediaType: noteType)
        answer.caching = .revalidated(digest: nil)
        return answer
    }

    @Sendable
    private static func records(_ call: Call, _ service: LedgerService) async throws -> Answer {
        guard let coordinate = TileCoordinate(level: 0, place: call.path[.place] ?? "") else {
            throw Problem(.notFound)
        }
        let bytes = try await service.blocking {
            try service.ledger.prover.publishedRecords(coordinate)
        }
        return try answer(bytes, isPublic: false)
    }

    @Sendable
    private static func tile(_ call: Call, _ service: LedgerService) async throws -> Answer {
        guard let text = call.path[.level], let level = Int(text), String(level) == text,
            let coordinate = TileCoordinate(level: level, place: call.path[.place] ?? "")
        else { throw Problem(.notFound) }
        let bytes = try await service.blocking {
            try service.ledger.prover.publishedTile(coordinate)
        }
        return try answer(bytes, isPublic: service.access.isLogPublic)
    }

    private static func answer(_ bytes: [UInt8]?, isPublic: Bool) throws(Problem) -> Answer {
        guard let bytes else { throw Problem(.notFound) }
        var answer = Answer(bytes: bytes, mediaType: binaryType)
        answer.caching = .immutable(isPublic: isPublic)
        return answer
    }

    @Sendable
    private static func prove(_ call: Call, _ service: LedgerService) async throws -> Answer {
        guard let sequence = UInt64(call.path[.sequence] ?? "") else { throw Problem(.notFound) }
        try await service.require(call.minimumSequence())
        let proven = try await proof(of: sequence, service)
        try requireSigned(proven.tree.size, call)
        return Answer(proven).at(size: proven.tree.size)
    }

    /// Refuses to prove by a checkpoint of less than the caller has seen (read your writes).
    private static func requireSigned(_ size: UInt64, _ call: Call) throws(Problem) {
        guard let minimum = try call.minimumSequence(), size < minimum.size else { return }
        throw Problem(
            .behind,
            "the newest checkpoint signs less than Ledger-Min-Sequence",
            retryAfter: 30
        )
    }

    /// Proves that an event stands in the log.
    ///
    /// - Throws: `Problem.notFound` where no checkpoint holds it.
    static func proof(
        of sequence: UInt64,
        _ service: LedgerService
    ) async throws -> RecordProofAnswer {
        let proof = try await proof(service) { try $0.prover.proof(of: sequence) }
        return RecordProofAnswer(
            sequence: sequence,
            tree: try ProvenTree(proof.checkpoint, proof.hashes, proof.text)
        )
    }

    @Sendable
    private static func proveGrowth(_ call: Call, _ service: LedgerService) async throws -> Answer {
        guard let size = UInt64(call.path[.size] ?? "") else { throw Problem(.notFound) }
        try await service.require(call.minimumSequence())
        let against = call.checkpointAgainst
        let proof = try await proof(service) { ledger in
            if let against {
                if let fault = try ledger.fault(against: against) {
                    throw Problem(.otherHistory, fault.detail, path: "against")
                }
                guard try SignedNote.parse(against).isCheckpoint(ofSize: size) else {
                    throw Problem(.invalidValue, "it is of another size", path: "against")
                }
            }
            return try ledger.prover.consistencyProof(from: size)
        }
        let tree = try ProvenTree(proof.checkpoint, proof.hashes, proof.text)
        try requireSigned(tree.size, call)
        return Answer(GrowthProofAnswer(oldSize: size, tree: tree)).at(size: tree.size)
    }

    /// What no checkpoint holds yet is answered as what does not exist is.
    private static func proof<Proof: Sendable>(
        _ service: LedgerService,
        _ body: @escaping @Sendable (Ledger) throws -> Proof
    ) async throws -> Proof {
        do {
            return try await service.blocking { try body(service.ledger) }
        } catch let fault as LedgerFault where fault.code == .unknownSequence {
            throw Problem(.notFound, fault.message)
        }
    }
}

extension SignedNote {
    fileprivate func isCheckpoint(ofSize size: UInt64) throws -> Bool {
        try Checkpoint(parsing: text).size == size
    }
}

extension ProvenTree {
    fileprivate init(_ note: SignedNote, _ hashes: [Digest], _ text: String) throws {
        let checkpoint = try Checkpoint(parsing: note.text)
        self.init(
            size: checkpoint.size,
            rootHash: checkpoint.root.base64,
            hashes: hashes.map(\.base64),
            checkpoint: note.description,
            proof: text
        )
    }
}
