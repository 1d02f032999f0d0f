import Encodings

/// What a salvage could not bring back beside records: it goes with the ledger and its copies, so
/// that no audit and no answer passes over it.
package struct KnownLoss: Sendable, Equatable {
    /// Whether leaf hashes are lost too: the tree is not the one that was signed, and nothing is
    /// written until the log goes on under a new name.
    package var isTreeLost: Bool
    /// Records that were kept and that no hash confirms.
    package var unconfirmed: UInt64
    /// Streams whose name and key are lost.
    package var streams: UInt64
    /// Records at the log's end that are lost, behind its last one.
    package var behindEnd: UInt64
    /// The first sequence whose record is lost, in a gap or behind the end; nil: none is.
    package var firstLost: UInt64?
    /// Records of which the evidence or attachment is lost, or a part that evidences share.
    package var attached: UInt64

    /// Describes a loss.
    package init(
        isTreeLost: Bool = false,
        unconfirmed: UInt64 = 0,
        streams: UInt64 = 0,
        behindEnd: UInt64 = 0,
        firstLost: UInt64? = nil,
        attached: UInt64 = 0
    ) {
        self.isTreeLost = isTreeLost
        self.unconfirmed = unconfirmed
        self.streams = streams
        self.behindEnd = behindEnd
        self.firstLost = firstLost
        self.attached = attached
    }

    /// Whether something may be missing in what a prefix says of somebody.
    ///
    /// `isEnd`: whether the prefix is all that is known.
    package func concerns(prefix size: UInt64, isEnd: Bool) -> Bool {
        streams > 0 || isEnd && behindEnd > 0 || firstLost.map { $0 < size } ?? false
    }
}

/// Copies of the ledger.
extension KnownLoss {
    /// What is lost by either of two accounts of one log.
    func joined(with other: KnownLoss) -> KnownLoss {
        KnownLoss(
            isTreeLost: isTreeLost || other.isTreeLost,
            unconfirmed: max(unconfirmed, other.unconfirmed),
            streams: max(streams, other.streams),
            behindEnd: max(behindEnd, other.behindEnd),
            firstLost: [firstLost, other.firstLost].compactMap(\.self).min(),
            attached: max(attached, other.attached)
        )
    }

    /// What is missing in a ledger that is restored from an archive; nil: nothing.
    ///
    /// `size`: its events; `archived`: those of the archive.
    package func restored(_ size: UInt64, of archived: UInt64) -> KnownLoss? {
        var loss = self
        // The archive's records gave the root of a signed checkpoint.
        loss.isTreeLost = false
        if size < archived {
            loss.behindEnd = 0
            loss.firstLost = firstLost.flatMap { $0 < size ? $0 : nil }
        }
        return loss == KnownLoss() ? nil : loss
    }
}

/// The file `loss.json` (schemas/log-format.md).
extension KnownLoss {
    /// Its name, in a ledger's directory and in an archive.
    package static let fileName = "loss.json"

    /// Its bytes.
    package var bytes: [UInt8] {
        var members = [
            JSONMember("isTreeLost", .bool(isTreeLost)),
            JSONMember("unconfirmed", .integer(unconfirmed)),
            JSONMember("streams", .integer(streams)), JSONMember("behindEnd", .integer(behindEnd)),
        ]
        if let firstLost { members.append(JSONMember("firstLost", .integer(firstLost))) }
        if attached > 0 { members.append(JSONMember("attached", .integer(attached))) }
        return Array((JSONValue.object(members).description + "\n").utf8)
    }

    /// Reads its bytes; nil for what is none.
    package init?(reading bytes: [UInt8]) {
        // What is no JSON is no loss either; who reads it says so.
        guard let json = try? JSONValue(parsing: bytes),
            let isTreeLost = json["isTreeLost"]?.bool,
            let unconfirmed = json.count("unconfirmed"), let streams = json.count("streams"),
            let behindEnd = json.count("behindEnd"),
            json["firstLost"] == nil || json.count("firstLost") != nil,
            json["attached"] == nil || json.count("attached") != nil
        else { return nil }
        self.init(
            isTreeLost: isTreeLost,
            unconfirmed: unconfirmed,
            streams: streams,
            behindEnd: behindEnd,
            firstLost: json.count("firstLost"),
            attached: json.count("attached") ?? 0
        )
    }
}

extension JSONValue {
    fileprivate func count(_ name: String) -> UInt64? {
        guard case .number(let digits)? = self[name] else { return nil }
        return UInt64(digits)
    }
}
