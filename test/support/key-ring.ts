import { createKeyRing, type KeyRing } from '../../src/key-ring.ts'
import { systemClock } from '../../src/world.ts'

/** A key ring with a secret that was never changed. */
export function ringOf(secret: string, ...previous: readonly string[]): KeyRing {
  return createKeyRing(secret, previous, systemClock)
}
