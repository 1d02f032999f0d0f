import Encodings
import Entitlements
import Stores

/// Reads lines as items of a format.
struct ItemReader: Sendable {
    let format: ImportFormat
    /// Verifies what Apple signs; nil: the App Store is not configured.
    let appStore: AppStoreVerifier?
    /// Whose purchases of Google Play are taken; nil: it is not configured.
    let playStore: PlayConfiguration?
    let clock: @Sendable () -> Instant
    /// Whether an array of events is each of them; else it is none.
    var takesEventArrays = true

    /// What a line was read as.
    private enum Reading {
        case item(ImportFormat.Item)
        case items([ImportFormat.Item])
        /// What the App Store signed is verified yet.
        case signed(JSONValue, body: [UInt8], LineReader.Line)
    }

    /// Reads lines, in their order; an array of signals gives several items.
    func items(_ lines: [LineReader.Line]) -> [ImportFormat.Item] {
        items(lines.lazy.map(reading), count: lines.count)
    }

    /// Reads one JSON value.
    func items(
        _ json: JSONValue,
        _ bytes: [UInt8],
        _ line: LineReader.Line
    ) -> [ImportFormat.Item] {
        items(CollectionOfOne(reading(json, bytes, line)), count: 1)
    }

    /// The items of readings; what is signed is verified in one task, for all of them.
    private func items(_ readings: some Sequence<Reading>, count: Int) -> [ImportFormat.Item] {
        var items: [ImportFormat.Item] = []
        items.reserveCapacity(count)
        var signed: [Signed] = []
        for reading in readings {
            switch reading {
            case .item(let item): items.append(item)
            case .items(let several): items += several
            case .signed(let json, let body, let line):
                signed += Self.signed(json, body, line, place: items.count)
            }
        }
        return signed.isEmpty ? items : merged(items, signed, verified(signed))
    }

    private func reading(_ line: LineReader.Line) -> Reading {
        guard var bytes = line.bytes else {
            return .item(
                refused(
                    line,
                    "too_large",
                    "",
                    "a line has at most \(LineReader.lineByteLimit) bytes"
                )
            )
        }
        // A line's end may be CR LF, and no signature takes the CR for white space.
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        if format == .appStore || format == .auto, AppStoreImport.looksLikeJWS(bytes) {
            return signals(.string(String(decoding: bytes, as: UTF8.self)), bytes, line)
        }
        do {
            let text = try JSONText(parsing: bytes, placeLimit: JSONText.placeLimit(of: bytes))
            // No message of a store's passes for an event.
            if format == .auto || format == .events, case .success(let item) = event(text, line) {
                return .item(item)
            }
            return reading(text.value(JSONText.root), bytes, line)
        } catch {
            if let json = Self.storeMessage(bytes, as: format) { return reading(json, bytes, line) }
            return .item(
                refused(line, "malformed", "", "not JSON at byte \(error.offset): \(error.message)")
            )
        }
    }

    /// A whole text as JSON; nil: it is none that this format may be.
    static func json(_ bytes: [UInt8], as format: ImportFormat) -> JSONValue? {
        // Why it is none does not matter: it may be the beginning of a longer text.
        (try? JSONValue(parsing: bytes)) ?? storeMessage(bytes, as: format)
    }

    /// A store's message of which a text is not well-formed: it is not lost for that (Stores, rule 6).
    private static func storeMessage(_ bytes: [UInt8], as format: ImportFormat) -> JSONValue? {
        // Text that is no JSON even so is refused for what is wrong with it as JSON.
        guard format != .events,
            let json = try? JSONValue(
                parsingStoreText: bytes,
                placeLimit: JSONText.placeLimit(of: bytes)
            )
        else {
            return nil
        }
        let isStores =
            RevenueCatImport.looksLikeRevenueCat(json) || AppStoreImport.looksLikeAppStore(json)
            || PlayImport.looksLikePlay(json)
        return isStores ? json : nil
    }

    private func reading(
        _ json: JSONValue,
        _ bytes: [UInt8],
        _ line: LineReader.Line
    ) -> Reading {
        switch format {
        case .events: events(json, line)
        case .revenuecat: .items(revenueCat(json, bytes, line))
        case .appStore: signals(json, bytes, line)
        case .play: .items(playMessages(json, bytes, line))
        case .auto:
            if RevenueCatImport.looksLikeRevenueCat(json) {
                .items(revenueCat(json, bytes, line))
            } else if AppStoreImport.looksLikeAppStore(json) {
                signals(json, bytes, line)
            } else if PlayImport.looksLikePlay(json) {
                .items(playMessages(json, bytes, line))
            } else {
                events(json, line)
            }
        }
    }

    private func revenueCat(
        _ json: JSONValue,
        _ bytes: [UInt8],
        _ line: LineReader.Line
    ) -> [ImportFormat.Item] {
        let outcomes = RevenueCatImport.outcomesOfItems(in: json, body: bytes, now: clock())
        return items(outcomes, of: .revenuecat, json, bytes, line)
    }

    private func playMessages(
        _ json: JSONValue,
        _ bytes: [UInt8],
        _ line: LineReader.Line
    ) -> [ImportFormat.Item] {
        guard let playStore else {
            return [
                refused(
                    line,
                    "not_configured",
                    "",
                    "Google Play is not configured: stores.json or --stores FILE",
                    of: .play
                )
            ]
        }
        let outcomes = PlayImport.outcomesOfItems(
            in: json,
            body: bytes,
            configuration: playStore,
            now: clock()
        )
        return items(outcomes, of: .play, json, bytes, line)
    }

    /// What became of each element of a list, or of a message by itself, which may be several things.
    private func items(
        _ outcomes: [[Result<Submission, SignalRefusal>]],
        of format: ImportFormat,
        _ json: JSONValue,
        _ bytes: [UInt8],
        _ line: LineReader.Line
    ) -> [ImportFormat.Item] {
        outcomes.enumerated().flatMap { index, outcomes in
            let own = json.array.map { Array($0[index].description.utf8) } ?? bytes
            return outcomes.map { item($0, of: format, own, line) }
        }
    }

    private func signals(
        _ json: JSONValue,
        _ bytes: [UInt8],
        _ line: LineReader.Line
    ) -> Reading {
        guard appStore == nil else { return .signed(json, body: bytes, line) }
        return .item(
            refused(
                line,
                "not_configured",
                "",
                "the App Store is not configured: stores.json or --stores FILE",
                of: .appStore
            )
        )
    }

    /// What the App Store signed: a message by itself, or an element of an array.
    private struct Signed: Sendable {
        var json: JSONValue
        /// What is kept if it is refused.
        var text: [UInt8]
        /// Its place in an array; nil: it stands by itself.
        var index: Int?
        var line: LineReader.Line
        /// How many other items come before it.
        var place: Int
    }

    private static func signed(
        _ json: JSONValue,
        _ body: [UInt8],
        _ line: LineReader.Line,
        place: Int
    ) -> [Signed] {
        guard let elements = json.array else {
            return [Signed(json: json, text: body, line: line, place: place)]
        }
        return elements.enumerated().map { index, element in
            Signed(
                json: element,
                text: Array(element.description.utf8),
                index: index,
                line: line,
                place: place
            )
        }
    }

    private func verified(_ signed: [Signed]) -> [[AppStoreImport.Outcome]] {
        guard let appStore else { return [] }
        let now = clock()
        return Blocking.wait {
            var outcomes: [[AppStoreImport.Outcome]] = []
            for message in signed {
                // Of a JWS by itself, and of an element, what is signed is the evidence.
                let isBody = message.index == nil && message.json.string == nil
                outcomes.append(
                    await AppStoreImport.outcomes(
                        of: message.json,
                        body: isBody ? message.text : nil,
                        verifier: appStore,
                        now: now
                    )
                )
            }
            return outcomes
        }
    }

    /// Puts what is verified between the other items, in the order of the lines.
    private func merged(
        _ others: [ImportFormat.Item],
        _ signed: [Signed],
        _ outcomes: [[AppStoreImport.Outcome]]
    ) -> [ImportFormat.Item] {
        var items: [ImportFormat.Item] = []
        var next = 0
        for (message, outcomes) in zip(signed, outcomes) {
            items += others[next..<message.place]
            next = message.place
            items += outcomes.map { outcome in
                let own = item(outcome, of: .appStore, message.text, message.line)
                return message.index.map { own.inside($0) } ?? own
            }
        }
        return items + others[next...]
    }

    private func item(
        _ outcome: Result<Submission, SignalRefusal>,
        of format: ImportFormat,
        _ bytes: [UInt8],
        _ line: LineReader.Line
    ) -> ImportFormat.Item {
        let result: ImportResult<Submission> =
            switch outcome {
            case .success(let submission): .taken(submission)
            case .failure(let refusal):
                .refused(ImportRefusal(refusal.code.rawValue, refusal.path, refusal.detail))
            }
        return ImportFormat.Item(
            line: line.number,
            format: format,
            result: result,
            bytes: bytes
        )
    }

    /// An event, or each of an array, the form in which `GET /v1/events` answers.
    private func events(_ json: JSONValue, _ line: LineReader.Line) -> Reading {
        guard takesEventArrays, let elements = json.array, !elements.isEmpty else {
            return .item(event(json, line))
        }
        return .items(
            elements.enumerated().map { index, element in
                let text = Array(element.description.utf8)
                return event(element, LineReader.Line(number: line.number, bytes: text))
                    .inside(index)
            }
        )
    }

    private func event(_ json: JSONValue, _ line: LineReader.Line) -> ImportFormat.Item {
        switch event(JSONText(json), line) {
        case .success(let item): item
        case .failure(let fault):
            refused(line, fault.code.rawValue, fault.path, fault.detail, of: .events)
        }
    }

    private func event(
        _ text: JSONText,
        _ line: LineReader.Line
    ) -> Result<ImportFormat.Item, InputFault> {
        Result { () throws(InputFault) in
            let attributes = try EventAttributes(of: text)
            var event = try Event(attributes, in: text)
            if let document = event.data.document {
                // What was published elsewhere keeps its zones (K10).
                let isResolved = document["timeZones"] != nil
                event.data = EventData(
                    recorded: .catalogPublished,
                    entries: [],
                    document: isResolved ? document : TimeZones.resolved(document)
                )
            }
            let recordedAt = attributes[.recordedtime].flatMap(text.milliseconds)
            return ImportFormat.Item(
                line: line.number,
                format: .events,
                result: .taken(Submission(event: event)),
                recordedAt: recordedAt.map { Instant(milliseconds: $0) },
                hasUnreadableRecordedTime: attributes[.recordedtime] != nil && recordedAt == nil,
                bytes: line.bytes
            )
        }
    }

    private func refused(
        _ line: LineReader.Line,
        _ code: String,
        _ path: String,
        _ detail: String,
        of format: ImportFormat? = nil
    ) -> ImportFormat.Item {
        ImportFormat.Item(
            line: line.number,
            format: format,
            result: .refused(ImportRefusal(code, path, detail)),
            bytes: line.bytes
        )
    }
}
