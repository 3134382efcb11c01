import { seedShingles } from '../../src/pieces/shingles/hash.ts'

/**
 * Test files share modules, so the seed of an instance that one file opens would also apply to the
 * others.
 */
seedShingles(0x7368696e676c6573n)
