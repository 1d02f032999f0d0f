import Crypto
import Stores
import SwiftASN1
import X509
