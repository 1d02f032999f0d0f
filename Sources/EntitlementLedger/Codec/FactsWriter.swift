import Entitlements
import EventLog

/// Writes facts: a field's number, then its value in the form that its shape asks for.
typealias FactsWriter = ByteWriter

extension FactsWriter {
    mutating func append(id: String, source: String) {
        append(RecordMark.id, text: id)
        if SourceCode.code(of: source) == SourceCode.other {
            append(RecordMark.source, text: source)
        }
    }

    mutating func append(_ mark: UInt8, text: String) {
        append(mark)
        append(text)
    }

    mutating func append(_ field: Field, number: UInt64) {
        append(field.rawValue)
        append(number)
    }

    mutating func append(_ field: Field, streams: [UInt64]) {
        append(field.rawValue)
        append(UInt16(streams.count))
        for stream in streams { append(stream) }
    }

    mutating func append(_ entry: EventData.Entry) {
        append(entry.field.rawValue)
        switch entry.value {
        case .text(let text):
            if case .choice(let words) = entry.field.shape {
                append(UInt8(words.firstIndex(of: text) ?? 0))
            } else {
                append(text)
            }
        case .integer(let integer): append(integer)
        case .instant(let instant): append(instant.milliseconds)
        case .flag(let flag): append(UInt8(flag ? 1 : 0))
        case .texts(let texts):
            append(UInt16(texts.count))
            for text in texts { append(text) }
        case .durations(let durations):
            append(UInt16(durations.count))
            for duration in durations {
                append(duration.name)
                append(duration.milliseconds)
            }
        }
    }
}
