package import Entitlements

/// Proves that an event stands in the log: `GET /v1/proofs/{sequence}`.
package struct RecordProofAnswer: Described {
    /// The event.
    package var sequence: UInt64
    /// What it is proven in, and by what.
    package var tree: ProvenTree

    /// Makes a proof.
    package init(sequence: UInt64, tree: ProvenTree) {
        self.sequence = sequence
        self.tree = tree
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "InclusionProofFile",
        "Proves that an event stands in the log",
        Self.init
    ) {
        Field("sequence", \.sequence, .count)
        Field(inline: \.tree)
    }
}

/// Proves that the log extends its first events: `GET /v1/consistency/{size}`.
package struct GrowthProofAnswer: Described {
    /// How many they are.
    package var oldSize: UInt64
    /// What extends them, and by what that is proven.
    package var tree: ProvenTree

    /// Makes a proof.
    package init(oldSize: UInt64, tree: ProvenTree) {
        self.oldSize = oldSize
        self.tree = tree
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "ConsistencyProofFile",
        "Proves that the log extends its first events",
        Self.init
    ) {
        Field("oldSize", \.oldSize, .count)
        Field(inline: \.tree)
    }
}

/// A signed tree, and a way that leads to its root (RFC 9162).
package struct ProvenTree: Described {
    /// Its size.
    package var size: UInt64
    /// Its root, in base64.
    package var rootHash: String
    /// The hashes of the way, in base64.
    package var hashes: [String]
    /// The signed note (C2SP tlog-checkpoint).
    package var checkpoint: String
    /// The proof as a text that other programs check (C2SP tlog-proof, tlog-witness).
    package var proof: String

    /// Makes one.
    package init(
        size: UInt64,
        rootHash: String,
        hashes: [String],
        checkpoint: String,
        proof: String
    ) {
        self.size = size
        self.rootHash = rootHash
        self.hashes = hashes
        self.checkpoint = checkpoint
        self.proof = proof
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("ProvenTree", "A signed tree", Self.init) {
        Field("size", \.size, .count)
        Field("rootHash", \.rootHash, .text(.common(.digest)))
        Field("hashes", \.hashes, .list(.text(.common(.digest))))
        Field("checkpoint", \.checkpoint, .text, "A signed note (C2SP tlog-checkpoint)")
        Field("proof", \.proof, .text, "As other programs check it (C2SP)")
    }
}

/// What a proof proves: `check-proof`.
package struct CheckedProofAnswer: Described {
    /// What kind it is.
    package var kind: Kind
    /// The log's name.
    package var origin: String
    /// The size of the signed tree.
    package var size: UInt64
    /// Its root, in base64.
    package var rootHash: String
    /// Whose keys signed it, by their names.
    package var signedBy: [String]
    /// The event; nil: it is a proof of consistency.
    package var sequence: UInt64?
    /// The hash of its record, in base64; nil likewise.
    package var leafHash: String?
    /// When it was recorded (T3); nil likewise, and for a record that cannot be read.
    package var recordedAt: Instant?
    /// How many events the older checkpoint has; nil: it is a proof of inclusion.
    package var oldSize: UInt64?

    /// The kinds of proofs.
    package enum Kind: String, Sendable, CaseIterable {
        /// That an event stands in the log.
        case inclusion
        /// That the log extends an older one.
        case consistency
    }

    /// Makes an answer of what every proof has.
    package init(
        _ kind: Kind,
        origin: String,
        size: UInt64,
        rootHash: String,
        signedBy: [String]
    ) {
        self.kind = kind
        self.origin = origin
        self.size = size
        self.rootHash = rootHash
        self.signedBy = signedBy
    }

    /// Its members, in the order in which they are written; one that does not hold is a problem.
    package static let fields = Fields(
        "CheckedProof",
        "What a proof proves",
        { _, kind, origin, size, rootHash, signedBy, sequence, leafHash, recordedAt, oldSize in
            var answer = Self(
                kind,
                origin: origin,
                size: size,
                rootHash: rootHash,
                signedBy: signedBy
            )
            (answer.sequence, answer.leafHash) = (sequence, leafHash)
            (answer.recordedAt, answer.oldSize) = (recordedAt, oldSize)
            return answer
        }
    ) {
        Field("ok", { _ in true }, .boolean)
        Field("kind", \.kind, .word)
        Field("origin", \.origin, .text, "The log's name")
        Field("size", \.size, .count)
        Field("rootHash", \.rootHash, .text(.common(.digest)))
        Field("signedBy", \.signedBy, .list(.text))
        Field(
            "sequence",
            \.sequence,
            .orAbsent(.count),
            "The event's number; of inclusion only"
        )
        Field("leafHash", \.leafHash, .orAbsent(.text(.common(.digest))))
        Field("recordedAt", \.recordedAt, .orAbsent(.instant))
        Field(
            "oldSize",
            \.oldSize,
            .orAbsent(.count),
            "How many events the older checkpoint has; of consistency only"
        )
    }
}
