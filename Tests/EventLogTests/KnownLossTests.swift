import Testing

@testable import EventLog

/// The file that says what a salvage lost (schemas/log-format.md).
struct `A known loss` {
    private static let losses = [
        KnownLoss(), KnownLoss(isTreeLost: true, unconfirmed: 3, streams: .max, behindEnd: 2),
        KnownLoss(firstLost: 7), KnownLoss(attached: 4),
    ]

    @Test(arguments: losses)
    func `is read as it was written`(_ loss: KnownLoss) {
        #expect(KnownLoss(reading: loss.bytes) == loss)
    }

    @Test(arguments: [
        "", "{}", "null", #"{"isTreeLost":false,"unconfirmed":0,"streams":0}"#,
        #"{"isTreeLost":false,"unconfirmed":-1,"streams":0,"behindEnd":0}"#,
        #"{"isTreeLost":false,"unconfirmed":0,"streams":0,"behindEnd":0,"firstLost":"7"}"#,
        #"{"isTreeLost":false,"unconfirmed":0,"streams":0,"behindEnd":0,"attached":"7"}"#,
    ])
    func `is not read from something else`(_ text: String) {
        #expect(KnownLoss(reading: Array(text.utf8)) == nil)
    }

    // An older program wrote it over several lines, in another order.
    @Test func `is read as older programs wrote it`() {
        let text = """
            {
              "behindEnd" : 1,
              "firstLost" : 300,
              "isTreeLost" : false,
              "streams" : 2,
              "unconfirmed" : 0
            }
            """
        let loss = KnownLoss(streams: 2, behindEnd: 1, firstLost: 300)
        #expect(KnownLoss(reading: Array(text.utf8)) == loss)
    }

    @Test func `is joined with what an archive says already`() {
        let (first, second) = (
            KnownLoss(unconfirmed: 1, streams: 4, firstLost: 9), KnownLoss(streams: 2, firstLost: 5)
        )
        #expect(
            first.joined(with: second) == KnownLoss(unconfirmed: 1, streams: 4, firstLost: 5)
        )
        #expect(first.joined(with: KnownLoss()) == first)
        #expect(KnownLoss(attached: 2).joined(with: KnownLoss(attached: 3)).attached == 3)
    }

    @Test func `is as far as the restored events reach`() {
        let loss = KnownLoss(isTreeLost: true, streams: 1, behindEnd: 3, firstLost: 5)
        #expect(loss.restored(9, of: 9) == KnownLoss(streams: 1, behindEnd: 3, firstLost: 5))
        #expect(loss.restored(6, of: 9) == KnownLoss(streams: 1, firstLost: 5))
        #expect(loss.restored(5, of: 9) == KnownLoss(streams: 1))
        #expect(KnownLoss(behindEnd: 3, firstLost: 5).restored(5, of: 9) == nil)
    }
}
