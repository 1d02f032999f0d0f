import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LMDBStorage
import LedgerAPI
import LedgerOperations
import LedgerServer
import Presentation

/// The command `entitle prove`.
struct Prove: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prove",
        abstract: "Proves that an event stands in the log, or that the log extends an older one.",
        discussion: HelpText.discussion(
            """
            The file is checked by `entitle check-proof`, without a ledger, or by any program that \
            knows C2SP tlog-proof. It holds the record, sealed as it is. With --consistency it is the \
            request that a witness takes (C2SP tlog-witness). What is not signed yet is signed first; with \
            --server where the key may sign, one of scope admin. One of audit proves what is signed.
            """,
            examples: "entitle prove 42 --output event-42.proof"
        )
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var server: ServerOptions
    @Argument(help: "The event's number.") var sequence: UInt64?
    @Option(help: "The size of an older checkpoint, or a file with one.") var consistency: String?
    @Option(help: "Where the proof goes (default: standard output).") var output: String?
    @Flag(help: "Leaves the record out: whoever checks has it from elsewhere.")
    var withoutRecord = false

    func validate() throws {
        if (sequence == nil) == (consistency == nil) {
            throw ValidationError("expected the number of an event, or --consistency")
        }
    }

    func run() throws {
        let text =
            try server.named().map { try proof(by: $0) }
            ?? options.withCheckpointed { try proof($0.ledger) }
        guard let output else {
            return options.json
                ? Terminal.line(.members(["proof": .string(text)])) : Terminal.write(text)
        }
        try OutputFile.write(text, to: output, mode: OutputFile.forOthers)
        if options.json {
            Terminal.line(.members(["output": .string(output)]))
        } else {
            Terminal.line("wrote \(output)")
        }
    }

    private func proof(_ ledger: Ledger) throws -> String {
        if let sequence {
            return try ledger.prover.proof(of: sequence, withRecord: !withoutRecord).text
        }
        let old = consistency ?? ""
        if let size = UInt64(old) { return try ledger.prover.consistencyProof(from: size).text }
        let size = try ProofFile.withCheckpoint(old) { note in
            if let fault = try ledger.prover.fault(against: note) {
                throw OperationFault(.forked, fault.detail, place: old)
            }
            return try Checkpoint(parsing: SignedNote.parse(note).text).size
        }
        return try ledger.prover.consistencyProof(from: size).text
    }

    private func proof(by client: ServerClient) throws -> String {
        client.signIfAllowed()
        if let sequence {
            let text = try proof(client, ["proofs", String(sequence)])
            guard withoutRecord else { return text }
            var proof = try InclusionProofFile(parsing: text)
            proof.record = nil
            return proof.text
        }
        let old = consistency ?? ""
        if UInt64(old) != nil { return try proof(client, ["consistency", old]) }
        let (note, size) = try ProofFile.withCheckpoint(old) { note in
            (note, try Checkpoint(parsing: SignedNote.parse(note).text).size)
        }
        return try proof(client, ["consistency", String(size)], [("against", note)])
    }

    /// What a server proves; what it refuses is told as the ledger tells it.
    private func proof(
        _ client: ServerClient,
        _ path: [String],
        _ query: [(name: String, value: String)] = []
    ) throws -> String {
        do {
            return try client.member("proof", of: .get(["v1"] + path, query), \.string)
        } catch let fault as OperationFault {
            switch ProblemCode(rawValue: fault.code.rawValue) {
            case .notFound:
                throw LedgerFault(.unknownSequence, fault.message)
            case .otherHistory: throw OperationFault(.forked, fault.message, place: consistency)
            default: throw fault
            }
        }
    }
}

/// The command `entitle check-proof`.
struct CheckProof: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-proof",
        abstract: "Checks a proof without a ledger: exit 3 where it does not hold.",
        discussion: HelpText.discussion(
            HelpText.noLedger,
            examples:
                "entitle check-proof event-42.proof "
                + "--key shop.example+51dc4d76+AVDYWOCYXsx/YEGKrwzFq1h/QsJXCohAlanozKzQ9lRc"
        )
    )

    @OptionGroup var common: CommonOptions
    @Argument(help: "The proof.") var file: String
    @Option(help: "The log's verifier key: `publicKey` of its ledger.json.") var key: String
    @Option(help: "The record, where the proof does not hold it.") var record: String?
    @Option(help: "The older checkpoint, for a proof of consistency.") var old: String?
    @Option(help: "The key of a witness who must have signed; may be repeated.")
    var witness: [String] = []

    func run() throws {
        let keys =
            try [ProofFile.key(key, "--key")]
            + witness.map { try ProofFile.key($0, "--witness", kind: .cosignature) }
        let text = try ProofFile.text(file)
        do {
            let answer = try check(text, keys)
            Terminal.tell(AnswerText(answer), or: answer.textLines, asJSON: common.json)
        } catch let fault as NoteFault where Self.isForm(fault) {
            let code = OperationFault.Code(fault.code.rawValue, .badInput)
            throw OperationFault(code, fault.message, place: file)
        } catch let fault as NoteFault where fault.code == .notProven {
            throw OperationFault(.notProven, fault.message, place: file)
        }
    }

    private func check(_ text: String, _ keys: [VerifierKey]) throws -> CheckedProofAnswer {
        if text.hasPrefix("old ") {
            let proof = try ConsistencyProofFile(parsing: text)
            guard let old else {
                throw OperationFault(.usage, "expected the older checkpoint: --old FILE")
            }
            let older = try SignedNote.parse(ProofFile.text(old))
            let checkpoint = try proof.verified(against: older, by: keys)
            var answer = CheckedProofAnswer(.consistency, checkpoint, keys)
            answer.oldSize = proof.oldSize
            return answer
        }
        let proof = try InclusionProofFile(parsing: text)
        guard let bytes = try record.map({ try ProofFile.bytes($0) }) ?? proof.record else {
            throw OperationFault(
                .usage,
                "the proof does not hold the record",
                hint: "give it with --record FILE"
            )
        }
        let leaf = TreeHash.leaf(bytes.span)
        let checkpoint = try proof.verified(leafHash: leaf, by: keys)
        var answer = CheckedProofAnswer(.inclusion, checkpoint, keys)
        answer.sequence = proof.sequence
        answer.leafHash = leaf.base64
        // A record of another log's form is proven all the same.
        let header = try? RecordHeader(checking: bytes.span)
        answer.recordedAt = header.map { Instant(milliseconds: $0.recordedAt) }
        return answer
    }

    /// Whether a text is not what it should be at all, rather than a proof that fails.
    private static func isForm(_ fault: NoteFault) -> Bool {
        switch fault.code {
        case .malformedNote, .tooLarge, .malformedProof, .malformedCheckpoint: true
        case .malformedKey, .unsupportedKey, .noKnownSignature, .invalidSignature, .notProven,
            .signingFailed:
            false
        }
    }
}

extension CheckedProofAnswer {
    fileprivate init(_ kind: Kind, _ checkpoint: Checkpoint, _ keys: [VerifierKey]) {
        self.init(
            kind,
            origin: checkpoint.origin,
            size: checkpoint.size,
            rootHash: checkpoint.root.base64,
            signedBy: keys.map(\.name)
        )
    }
}
