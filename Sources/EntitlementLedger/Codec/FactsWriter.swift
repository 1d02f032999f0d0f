import Entitlements
import EventLog

/// Writes facts: a field's number, then its value in the form that its shape asks for.
struct FactsWriter {
    private var writer = ByteWriter(reservingCapacity: 96)

    var bytes: [UInt8] { writer.bytes }

    mutating func append(id: String, source: String) {
        append(RecordMark.id, text: id)
        if SourceCode.code(of: source) == SourceCode.other {
            append(RecordMark.source, text: source)
        }
    }

    mutating func append(_ mark: UInt8, text: String) {
        writer.append(mark)
        writer.append(text)
    }

    mutating func append(_ field: Field, number: UInt64) {
        writer.append(field.rawValue)
        writer.append(number)
    }

    mutating func append(_ field: Field, streams: [UInt64]) {
        writer.append(field.rawValue)
        writer.append(UInt16(streams.count))
        for stream in streams { writer.append(stream) }
    }

    mutating func append(_ entry: EventData.Entry) {
        writer.append(entry.field.rawValue)
        switch entry.value {
        case .text(let text):
            if case .choice(let words) = entry.field.shape {
                writer.append(UInt8(words.firstIndex(of: text) ?? 0))
            } else {
                writer.append(text)
            }
        case .integer(let integer): writer.append(integer)
        case .instant(let instant): writer.append(instant.milliseconds)
        case .flag(let flag): writer.append(UInt8(flag ? 1 : 0))
        case .texts(let texts):
            writer.append(UInt16(texts.count))
            for text in texts { writer.append(text) }
        case .durations(let durations):
            writer.append(UInt16(durations.count))
            for duration in durations {
                writer.append(duration.name)
                writer.append(duration.milliseconds)
            }
        }
    }
}
