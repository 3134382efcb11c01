import { expect, test } from 'vitest'
import { readOverride } from '../../../src/origin/networks.ts'

const nothing = { abuse: '', name: '', asn: '', country: '' }

test.for(['0.0.0.0/0', '10.0.0.0/7', '::/0', '2000::/11'])(
  'no abuse desk answers for %s, but "nobody" may be set',
  (cidr) => {
    expect(readOverride({ ...nothing, cidr, abuse: 'abuse@one.example' })).toEqual({
      faults: ['refused.block-wide'],
    })
    expect(readOverride({ ...nothing, cidr, abuse: 'none' })).toMatchObject({ isMuted: true })
    expect(readOverride({ ...nothing, cidr, name: 'Everything' })).toMatchObject({ contacts: [] })
  },
)

test.for(['10.0.0.0/8', '2000::/12'])('a desk may answer for %s', (cidr) => {
  const contacts = ['abuse@one.example']
  expect(readOverride({ ...nothing, cidr, abuse: 'abuse@one.example' })).toMatchObject({ contacts })
})
