package import Encodings
package import Entitlements

/// Who a customer is, as a line of an export: their names and purchases with their numbers in the
/// log.
package struct ExportedIdentity: Described {
    /// The customer as they may be shown.
    package var customer: String?
    /// Their environment.
    package var environment: StoreEnvironment?
    /// Their names (C2).
    package var names: [Stream]
    /// Their purchases.
    package var purchases: [Stream]

    /// A name and its number in the log.
    package struct Stream: Described {
        /// The name.
        package var name: String
        /// The number.
        package var number: UInt64

        /// Names a stream.
        package init(name: String, number: UInt64) {
            self.name = name
            self.number = number
        }

        /// Its members, in the order in which they are written.
        package static let fields = Fields("ExportedStream", "A name and its number", Self.init) {
            Field("name", \.name, .text)
            Field("stream", \.number, .digits)
        }
    }

    /// Makes the line.
    package init(
        customer: String?,
        environment: StoreEnvironment?,
        names: [Stream],
        purchases: [Stream]
    ) {
        self.customer = customer
        self.environment = environment
        self.names = names
        self.purchases = purchases
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("ExportedIdentity", "Who a customer is", Self.init) {
        Field("customer", \.customer, .orNull(.text))
        Field("environment", \.environment, .orNull(.environment))
        Field("names", \.names, .list(.object))
        Field("purchases", \.purchases, .list(.object))
    }
}

/// What events were read from, as a line of an export.
package struct ExportedEvidence: Described {
    /// The place of the first of its events.
    package var sequence: UInt64
    /// SHA-256 of the sealed bytes in hexadecimal: what the record binds.
    package var digest: String?
    /// What is shown of it.
    package var content: JSONValue

    /// Makes the line.
    package init(sequence: UInt64, digest: String?, content: JSONValue) {
        self.sequence = sequence
        self.digest = digest
        self.content = content
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("ExportedEvidence", "Evidence", Self.init) {
        Field("sequence", \.sequence, .padded)
        Field("digest", \.digest, .orNull(.sha256))
        Field("content", \.content, .anything)
    }
}

/// A record as it stands, and how it belongs to the checkpoint's tree, as a line of an export.
package struct ExportedProof: Described {
    /// Its place in the log.
    package var sequence: UInt64
    /// The record in base64.
    package var record: String
    /// Hashes in base64; nil: it is of a range, whose records prove one another.
    package var proof: [String]?

    /// Makes the line.
    package init(sequence: UInt64, record: String, proof: [String]?) {
        self.sequence = sequence
        self.record = record
        self.proof = proof
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("ExportedProof", "A record and its proof", Self.init) {
        Field("sequence", \.sequence, .padded)
        Field("record", \.record, .text)
        Field("proof", \.proof, .orAbsent(.list(.text)))
    }
}

/// How a range of records belongs to the checkpoint's tree: what is before it as the edge of that
/// tree, what is behind it as a consistency proof.
package struct ExportedRange: Described {
    /// Its first record.
    package var start: UInt64
    /// The first behind it.
    package var end: UInt64
    /// Hashes in base64.
    package var edge: [String]
    /// Hashes in base64.
    package var consistency: [String]

    /// Makes the line.
    package init(start: UInt64, end: UInt64, edge: [String], consistency: [String]) {
        self.start = start
        self.end = end
        self.edge = edge
        self.consistency = consistency
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("ExportedRange", "A range's proof", Self.init) {
        Field("from", \.start, .padded)
        Field("to", \.end, .padded)
        Field("edge", \.edge, .list(.text))
        Field("consistency", \.consistency, .list(.text))
    }
}

extension Form<UInt64> {
    /// A number as text: programs read numbers of more than 53 bits wrongly.
    fileprivate static var digits: Self {
        Form(
            .pattern("^[0-9]{1,20}$"),
            expected: "digits",
            write: { $1.string(String($0)) },
            read: { $0.string.flatMap { UInt64($0) } }
        )
    }
}
