import Encodings
import Entitlements
import Testing

/// K10: the time zones that a catalog document brings along.
struct `The time zones of a catalog` {
    // An offset without bounds would stop whoever asks about a limit.
    @Test(arguments: [
        ("93600", "[[0,-93600],[1,93600]]", true),
        ("93601", "[]", false),
        ("0", "[[0,93601]]", false),
        ("0", "[[0,-93601]]", false),
        ("0", "[[0,9223372036854775807]]", false),
        ("0", "[[0,-9223372036854775808]]", false),
        ("0", "[[1,0],[1,3600]]", false),
    ])
    func `lie within 26 hours of UTC, their transitions ascending`(
        offset: String,
        transitions: String,
        isAccepted: Bool
    ) throws {
        let document = """
            {"tiers":["free"],"features":[],"products":[],
            "timeZones":{"zones":{"Z":{"offsetSeconds":\(offset),"transitions":\(transitions)}}}}
            """
        let json = try JSONValue(parsing: Array(document.utf8))
        let faults: [InputFault]
        do throws(InputFault) {
            _ = try Catalog(document: json)
            faults = []
        } catch {
            faults = error.all
        }
        #expect(faults.isEmpty == isAccepted)
        #expect(faults.allSatisfy { $0.path.hasPrefix("timeZones.zones.Z.") })
    }

    // C5: a program that embeds the ledger may ask about any instant.
    @Test(arguments: UsagePeriod.allCases)
    func `have a window for any instant`(_ period: UsagePeriod) {
        for instant in [Int64.min, .min + 1, -1, 0, .max - 1, .max] {
            let window = period.window(containing: Instant(milliseconds: instant), in: .utc)
            #expect(!window.isEmpty)
            let isWritten = (-1...0).contains(instant)
            #expect(window.contains(Instant(milliseconds: instant)) == isWritten)
        }
    }
}
