import Encodings
import Entitlements
import Stores

/// Reads lines as items of a format.
struct ItemReader: Sendable {
    let format: ImportFormat
    /// Verifies what Apple signs; nil: the App Store is not configured.
    let appStore: AppStoreVerifier?
    let clock: @Sendable () -> Instant

    /// What a line was read as.
    private enum Reading {
        case items([ImportFormat.Item])
        /// What the App Store signed is verified yet.
        case signed(JSONValue, body: [UInt8], LineReader.Line)
    }

    /// Reads lines, in their order; an array of signals gives several items.
    func items(_ lines: [LineReader.Line]) -> [ImportFormat.Item] {
        verified(lines.map(reading))
    }

    /// Reads one JSON value.
    func items(
        _ json: JSONValue,
        _ bytes: [UInt8],
        _ line: LineReader.Line
    ) -> [ImportFormat.Item] {
        verified([reading(json, bytes, line)])
    }

    private func reading(_ line: LineReader.Line) -> Reading {
        guard let bytes = line.bytes else {
            return .items([
                refused(
                    line,
                    "too_large",
                    "",
                    "a line has at most \(LineReader.lineByteLimit) bytes"
                )
            ])
        }
        if format == .appStore || format == .auto, AppStoreImport.looksLikeJWS(bytes) {
            return signals(.string(String(decoding: bytes, as: UTF8.self)), bytes, line)
        }
        do {
            let text = try JSONText(parsing: bytes)
            // No message of a store's passes for an event.
            if format == .auto || format == .events, case .success(let item) = event(text, line) {
                return .items([item])
            }
            return reading(text.value(JSONText.root), bytes, line)
        } catch {
            if let json = storeMessage(bytes) { return reading(json, bytes, line) }
            return .items([
                refused(line, "malformed", "", "not JSON at byte \(error.offset): \(error.message)")
            ])
        }
    }

    /// A store's message of which a text is not well-formed: it is not lost for that (Stores, rule 6).
    private func storeMessage(_ bytes: [UInt8]) -> JSONValue? {
        // Text that is no JSON even so is refused for what is wrong with it as JSON.
        guard format != .events, let json = try? JSONValue(parsingStoreText: bytes) else {
            return nil
        }
        let isStores =
            RevenueCatImport.looksLikeWebhook(json) || AppStoreImport.looksLikeAppStore(json)
        return isStores ? json : nil
    }

    private func reading(
        _ json: JSONValue,
        _ bytes: [UInt8],
        _ line: LineReader.Line
    ) -> Reading {
        switch format {
        case .events: .items([event(json, line)])
        case .revenuecat: .items(webhooks(json, bytes, line))
        case .appStore: signals(json, bytes, line)
        case .auto:
            if RevenueCatImport.looksLikeWebhook(json) {
                .items(webhooks(json, bytes, line))
            } else if AppStoreImport.looksLikeAppStore(json) {
                signals(json, bytes, line)
            } else {
                .items([event(json, line)])
            }
        }
    }

    private func webhooks(
        _ json: JSONValue,
        _ bytes: [UInt8],
        _ line: LineReader.Line
    ) -> [ImportFormat.Item] {
        let outcomes = RevenueCatImport.outcomes(of: json, body: bytes, now: clock())
        return outcomes.enumerated().map { index, outcome in
            item(
                outcome,
                of: .revenuecat,
                json.array.map { Array($0[index].description.utf8) } ?? bytes,
                line
            )
        }
    }

    private func signals(
        _ json: JSONValue,
        _ bytes: [UInt8],
        _ line: LineReader.Line
    ) -> Reading {
        guard appStore == nil else { return .signed(json, body: bytes, line) }
        return .items([
            refused(
                line,
                "not_configured",
                "",
                "the App Store is not configured: stores.json or --stores FILE",
                of: .appStore
            )
        ])
    }

    /// Verifies what is signed, all in one task.
    private func verified(_ readings: [Reading]) -> [ImportFormat.Item] {
        let now = clock()
        var outcomes = Blocking.wait { [appStore] in
            var outcomes: [[AppStoreImport.Outcome]] = []
            guard let appStore else { return outcomes }
            for case .signed(let json, let body, _) in readings {
                outcomes.append(
                    await AppStoreImport.outcomes(
                        of: json,
                        body: json.string == nil ? body : nil,
                        verifier: appStore,
                        now: now
                    )
                )
            }
            return outcomes
        }[...]
        return readings.flatMap { reading in
            switch reading {
            case .items(let items): items
            case .signed(_, let body, let line):
                outcomes.removeFirst().map { item($0, of: .appStore, body, line) }
            }
        }
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
                event.data = EventData(
                    recorded: .catalogPublished,
                    entries: [],
                    document: TimeZones.resolved(document)
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
