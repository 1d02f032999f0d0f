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
}
