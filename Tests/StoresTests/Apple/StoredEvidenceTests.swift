import Entitlements
import StoreSimulator
import Stores
import Testing

/// Kept evidence, judged again (row CL7).
struct `Stored evidence` {
    private static func verdict(
        on evidence: [UInt8],
        of event: Event,
        at recordedAt: Instant = AppStoreSample.now,
        by verifier: (any AppStoreSignalVerifier)?
    ) async -> EvidenceVerdict {
        await StoredEvidenceVerifier(appStore: verifier).verdict(
            on: evidence,
            of: event,
            recordedAt: recordedAt
        )
    }

    /// A signal's payload and the first event that was read from it.
    private static func sample() async throws -> (evidence: [UInt8], event: Event) {
        let submission = try await AppStoreSample.submission("DID_RENEW")
        var event = try #require(submission.events.first)
        event.id = submission.id
        return (try #require(submission.evidence), event)
    }

    // rows 7.3, 7.4: by its signature, when it was signed
    @Test func `holds while its certificates did, however long ago that was`() async throws {
        let (evidence, event) = try await Self.sample()
        let verifier = try AppStoreSample.verifier()
        #expect(await Self.verdict(on: evidence, of: event, by: verifier) == .verified)
        // As a webhook's body, in which it stands.
        let body = #"{"signedPayload":"\#(String(decoding: evidence, as: UTF8.self))"}"#
        #expect(await Self.verdict(on: Array(body.utf8), of: event, by: verifier) == .verified)
        // Long after the certificates have ended.
        let late = AppStoreSample.instant("2040-01-01")
        #expect(await Self.verdict(on: evidence, of: event, at: late, by: verifier) == .verified)
        // It was recorded before it was signed.
        let early = AppStoreSample.instant("2020-01-01")
        #expect(
            await Self.verdict(on: evidence, of: event, at: early, by: verifier)
                == .refused(code: "future_date")
        )
    }

    // row 7.4
    @Test func `names who signed it, in whatever it came`() throws {
        let jws = try AppStoreSample.store().transaction(start: AppStoreSample.start)
        let signers = SigningCertificate.chain(of: jws)
        #expect(signers.count == 3)
        let text = String(decoding: jws, as: UTF8.self)
        let bodies =
            [
                "signedPayload", "signedTransactionInfo", "signedRenewalInfo",
                "signedAppTransactionInfo",
            ].map { #"{"\#($0)":"\#(text)"}"# } + [
                #""\#(text)""#, #"{"signedPayload":null,"signedTransactionInfo":"\#(text)"}"#,
            ]
        for body in bodies {
            #expect(SigningCertificate.chain(of: Array(body.utf8)) == signers, "\(body.prefix(40))")
        }
        // The control: nothing signed stands in these.
        for body in ["", "{}", "eyJ", #"{"signedPayload":1}"#, #"{"other":"\#(text)"}"#] {
            #expect(SigningCertificate.chain(of: Array(body.utf8)).isEmpty, "\(body.prefix(40))")
        }
    }

    // The control
    @Test func `with another byte, or of another authority, is refused`() async throws {
        var (evidence, event) = try await Self.sample()
        let other = try SigningAuthority(validity: AppStoreSample.validity)
        let stranger = try AppStoreSample.verifier { $0.roots = [other.root] }
        #expect(
            await Self.verdict(on: evidence, of: event, by: stranger)
                == .refused(code: "untrusted_root")
        )
        let last = evidence.count - 9
        evidence[last] = evidence[last] == 0x41 ? 0x42 : 0x41
        let verifier = try AppStoreSample.verifier()
        #expect(
            await Self.verdict(on: evidence, of: event, by: verifier)
                == .refused(code: "bad_signature")
        )
        (evidence, event) = try await Self.sample()
        event.id = "another"
        #expect(
            await Self.verdict(on: evidence, of: event, by: verifier)
                == .refused(code: "other_signal")
        )
    }

    @Test func `that nobody signs, or nobody can judge, is said to be so`() async throws {
        var (evidence, event) = try await Self.sample()
        let verifier = try AppStoreSample.verifier()
        #expect(await Self.verdict(on: evidence, of: event, by: nil) == .unchecked)
        // Of an app that is configured no more: it takes nothing from anybody.
        let ofOthers = try AppStoreSample.verifier { $0.bundleIDs = ["com.example.other"] }
        #expect(await Self.verdict(on: evidence, of: event, by: ofOthers) == .unchecked)
        event.environment = .local
        #expect(await Self.verdict(on: [], of: event, by: verifier) == .unsigned)
        event.environment = .production
        event.source = Source.revenueCat
        evidence = []
        #expect(await Self.verdict(on: evidence, of: event, by: verifier) == .unsigned)
    }
}
