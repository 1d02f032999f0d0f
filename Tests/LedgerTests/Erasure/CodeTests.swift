import Entitlements
import Testing

/// Text that clients choose stands in clear where erasures do not reach: it has the letters of codes.
struct `A code in an event` {
    /// Each kind of place where one stands, around it.
    private static let places: [(path: String, make: @Sendable (String) throws -> Event)] = [
        (
            "data.errorCode",
            { try Sample.event("e", "flow.failed", "customer/a", data: flow("errorCode", $0)) }
        ),
        (
            "data.platform",
            { try Sample.event("e", "flow.failed", "customer/a", data: flow("platform", $0)) }
        ),
        (
            "data.experiment",
            { try Sample.event("e", "flow.failed", "customer/a", data: flow("experiment", $0)) }
        ),
        (
            "data.stages",
            {
                let data = #"{"flowId":"f","stages":{"\#($0)":5}}"#
                return try Sample.event("e", "flow.failed", "customer/a", data: data)
            }
        ),
        (
            "data.name",
            {
                let data = #"{"name":"\#($0)"}"#
                return try Sample.event("e", "signal.noted", "store/app_store", data: data)
            }
        ),
        (
            "data.action",
            {
                let data = #"{"actor":"key/1","action":"\#($0)"}"#
                return try Sample.event("e", "access.logged", "customer/a", data: data)
            }
        ),
    ]

    private static func flow(_ name: String, _ code: String) -> String {
        #"{"flowId":"f","\#(name)":"\#(code)"}"#
    }

    @Test(arguments: places.indices)
    func `has few letters, and names nobody`(place: Int) throws {
        let (path, make) = Self.places[place]
        for code in ["E", "a.b_c:D/9+-", String(repeating: "x", count: 64)] {
            #expect(throws: Never.self) { try make(code) }
        }
        for code in [
            "", "ann@example.org", "Ann Lee", "josé", "a%40b", "a,b", "a=b", "a\\u0000",
            String(repeating: "x", count: 65),
        ] {
            let fault = #expect(throws: InputFault.self, "\(code)") { try make(code) }
            #expect(fault?.path.hasPrefix(path) == true, "\(code): \(fault?.path ?? "")")
        }
    }
}
