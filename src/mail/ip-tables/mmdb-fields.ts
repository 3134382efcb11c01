import { isMmdbMap, type MmdbMap } from './mmdb-data.ts'
import { readAsn, readCountry, readName } from './reading.ts'

/**
 * What a record says of its network, in the words of those who give such files out: GeoLite2 and
 * DB-IP (`autonomous_system_number`, `country.iso_code`), IPinfo (`asn` as `AS64496`, `as_name`,
 * `country_code` or `country`). What cannot be read is null: one odd record spoils no file.
 */
export function networkFields(record: MmdbMap): {
  asn: number | null
  name: string | null
  country: string | null
} {
  const asn = textIn(record, 'autonomous_system_number', 'asn')
  const name = textIn(record, 'autonomous_system_organization', 'as_name', 'name')
  return {
    asn: readAsn(asn) || null,
    name: readName(name),
    country: countryOf(record),
  }
}

/** Where the network is, before where it was registered. A country's name is no code. */
function countryOf(record: MmdbMap): string | null {
  const codes = [
    codeIn(record, 'country'),
    textIn(record, 'country_code'),
    textIn(record, 'country'),
    codeIn(record, 'registered_country'),
  ]
  for (const code of codes) {
    const country = readCountry(code)
    if (country) return country
  }
  return null
}

function codeIn(record: MmdbMap, key: string): string {
  const place = record[key]
  return isMmdbMap(place) ? textIn(place, 'iso_code') : ''
}

function textIn(record: MmdbMap, ...keys: string[]): string {
  for (const key of keys) {
    const value = record[key]
    if (typeof value === 'string' && value !== '') return value
    if (typeof value === 'number') return String(value)
  }
  return ''
}
