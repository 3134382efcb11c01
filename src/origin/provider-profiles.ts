import { networkSet, type NetworkSet } from '../mail/ip.ts'

/** How to distinguish a mailbox provider's own machines from other hosts. */
export type ProviderProfile = {
  name: string
  /**
   * Suffixes of the names that the provider's machines give themselves in `by`; a suffix with a
   * leading dot matches only names below it.
   */
  hosts: readonly string[]
  /** The suffixes among `hosts` of machines that accept mail from outside the provider. */
  borders: readonly string[]
  /** Short names without a domain that the provider's machines give themselves in `by`. */
  bareHosts?: RegExp
  /**
   * Addresses that the provider's machines use among themselves. A peer with such an address is one
   * of them.
   */
  relays: NetworkSet
  /**
   * Addresses from which the provider sends to others, and to itself when one customer writes to
   * another.
   */
  outbound: NetworkSet
  /**
   * For a provider that rents out the ranges it sends from: suffixes of the names of its sending
   * machines, used instead of `outbound`. A name is trusted if the receiver looked it up.
   */
  outboundHosts?: readonly string[]
  /** The field that names the customer for whom the provider handed a message on, in lower case. */
  tenantField?: string
  /** The domains that seal for the provider besides those of its hosts. */
  sealers?: readonly string[]
  /** Fields that record the client behind a message, in lower case; the most reliable one first. */
  submitterFields?: readonly string[]
  /** Protocol names that only this provider writes, between its own machines; in upper case. */
  protocols?: readonly string[]
}

const microsoft: ProviderProfile = {
  name: 'Microsoft',
  hosts: [
    '.prod.outlook.com',
    '.outlook.office365.com',
    '.protection.outlook.com',
    '.prod.exchangelabs.com',
    '.prod.protection.outlook.com',
    '.outlook.cn',
    '.hotmail.com',
    '.hotmail.msn.com',
    '.mx.microsoft',
  ],
  borders: [
    '.mail.protection.outlook.com',
    '.mail.protection.partner.outlook.cn',
    '.hotmail.com',
    '.hotmail.msn.com',
    '.mx.microsoft',
  ],
  tenantField: 'x-originatororg',
  sealers: ['microsoft.com'],
  submitterFields: [
    'x-ms-exchange-crosstenant-originalattributedtenantconnectingip',
    'arc-authentication-results',
    'x-originating-ip',
  ],
  relays: networkSet([
    ...['2603:1006::/32', '2603:1016::/32', '2603:1026::/32', '2603:1036::/32'],
    ...['2603:1046::/32', '2603:1056::/32', '2603:1066::/32', '2603:1076::/32'],
    ...['2603:1086::/32', '2603:1096::/32', '2603:10a6::/32', '2603:10b6::/32'],
    ...['2603:10c6::/32', '2603:10d6::/32'],
    ...['2603:1061::/32', '2a01:111:e400::/40', '2a01:111:f800::/40'],
  ]),
  outbound: networkSet([
    ...['40.92.0.0/15', '40.107.0.0/16', '52.100.0.0/14', '104.47.0.0/17'],
    // The relay pool, for mail that customers relay or forward; not in Microsoft's SPF record.
    '40.95.0.0/16',
    ...['2a01:111:f400::/48', '2a01:111:f403::/48'],
  ]),
}

const google: ProviderProfile = {
  name: 'Google',
  hosts: ['.google.com', '.googlemail.com', 'smtp.gmail.com', 'smtp-relay.gmail.com'],
  borders: ['mx.google.com', 'gmr-mx.google.com'],
  relays: networkSet(['2002:a00::/24']),
  outbound: networkSet([
    ...['209.85.128.0/17', '74.125.0.0/16', '64.233.160.0/19', '66.102.0.0/20'],
    ...['66.249.80.0/20', '72.14.192.0/18', '108.177.8.0/21', '172.217.0.0/19'],
    ...['173.194.0.0/16', '216.239.32.0/19', '216.58.192.0/19', '35.190.247.0/24'],
    ...['35.191.0.0/16', '2607:f8b0:4000::/36', '2a00:1450:4000::/36', '2404:6800:4000::/36'],
    ...['2800:3f0:4000::/36', '2c0f:fb50:4000::/36', '2001:4860:4000::/36'],
  ]),
  protocols: ['HTTPREST'],
}

const yahoo: ProviderProfile = {
  name: 'Yahoo',
  hosts: ['.yahoo.com', '.yahoo.net', '.yahoodns.net', '.aol.com'],
  borders: ['.mail.yahoo.com', '.mail.aol.com', '.yahoodns.net'],
  relays: networkSet([]),
  outbound: networkSet([
    ...['66.163.184.0/21', '74.6.128.0/21', '77.238.176.0/22', '98.137.64.0/21'],
    ...['106.10.240.0/22', '87.248.110.0/24', '188.125.68.0/23', '212.82.96.0/21'],
  ]),
  submitterFields: ['x-originating-ip', 'x-yahoo-post-ip'],
  protocols: ['NNFMP'],
}

const apple: ProviderProfile = {
  name: 'Apple',
  hosts: ['.me.com', '.mac.com', '.icloud.com', '.apple.com'],
  borders: ['.mail.icloud.com', '.me.com', '.mac.com'],
  bareHosts: /^p\d+-(?:icloudmta|mailgateway)-/,
  relays: networkSet([]),
  outbound: networkSet(['17.0.0.0/8', '57.103.64.0/18']),
}

const proton: ProviderProfile = {
  name: 'Proton',
  hosts: ['.protonmail.ch', '.proton.ch', '.protonmail.com'],
  borders: ['.protonmail.ch', '.proton.ch'],
  relays: networkSet([]),
  outbound: networkSet(['185.70.40.0/22', '185.205.70.0/24', '79.135.106.0/23']),
}

const gmx: ProviderProfile = {
  name: 'GMX and WEB.DE',
  hosts: [
    ...['.gmx.net', '.gmx.com', '.web.de', '.kundenserver.de', '.1and1.com'],
    // The MX names of domains at IONOS.
    ...['mx00.ionos.de', 'mx01.ionos.de', 'mx00.ionos.com', 'mx01.ionos.com'],
    ...['mx00.ionos.fr', 'mx01.ionos.fr', 'mx00.ionos.co.uk', 'mx01.ionos.co.uk'],
  ],
  borders: ['.gmx.net', '.gmx.com', '.web.de', '.kundenserver.de'],
  bareHosts: /^(mxgmx|mxweb|mxeue|mrgmx|mrweb|msvc-)[a-z-]*\d/,
  relays: networkSet([]),
  outbound: networkSet([
    ...['212.227.126.128/25', '212.227.15.0/24', '212.227.17.0/27', '82.165.159.0/24'],
    ...['213.165.64.0/23', '74.208.4.192/26', '74.208.5.64/26', '74.208.122.0/26'],
    ...['217.72.192.64/26', '217.72.207.0/27', '217.72.192.248/29'],
  ]),
}

const orange: ProviderProfile = {
  name: 'Orange',
  hosts: ['.orange.fr', '.wanadoo.fr'],
  borders: ['.orange.fr', '.wanadoo.fr'],
  bareHosts: /^(mwinf|mwinb)\d/,
  relays: networkSet([]),
  outbound: networkSet(['80.12.242.0/24', '193.252.22.0/23']),
  submitterFields: ['x-me-ip'],
  protocols: ['ME'],
}

const free: ProviderProfile = {
  name: 'Free',
  hosts: ['.free.fr', '.priv.proxad.net'],
  borders: ['.free.fr', '.priv.proxad.net'],
  relays: networkSet([]),
  outbound: networkSet(['212.27.42.0/24', '212.27.60.0/24', '2a01:e0c:1::/48']),
  submitterFields: ['x-originating-ip'],
}

const sfr: ProviderProfile = {
  name: 'SFR',
  hosts: ['.sfr.fr', '.neuf.fr', '.cegetel.net', '.sfr.net'],
  borders: ['.sfr.fr', '.neuf.fr'],
  relays: networkSet([]),
  outbound: networkSet([]),
  outboundHosts: ['.sfr.fr', '.neuf.fr'],
}

const laposte: ProviderProfile = {
  name: 'La Poste',
  hosts: ['.laposte.net'],
  borders: ['.laposte.net'],
  bareHosts: /^mlpn[fb]\d/,
  relays: networkSet([]),
  outbound: networkSet(['160.92.124.64/26']),
}

const ovh: ProviderProfile = {
  name: 'OVH',
  hosts: ['.mail.ovh.net', '.mail-out.ovh.net', '.mxp5.local', '.exchange.ovh.net'],
  borders: ['.mail.ovh.net'],
  relays: networkSet([]),
  outbound: networkSet([]),
  outboundHosts: ['.mail-out.ovh.net', '.mail.ovh.net'],
  submitterFields: ['x-originating-ip'],
}

const mailRu: ProviderProfile = {
  name: 'Mail.ru',
  hosts: ['.mail.ru', '.vk.company'],
  borders: ['.mail.ru'],
  relays: networkSet([]),
  outbound: networkSet(['94.100.176.0/20', '217.69.128.0/20']),
}

const yandex: ProviderProfile = {
  name: 'Yandex',
  hosts: ['.yandex.net', '.yandex.ru', '.yandex.com'],
  borders: ['.mail.yandex.net', '.yp-c.yandex.net', '.yandex.ru'],
  relays: networkSet(['2a02:6b8::/32']),
  outbound: networkSet([
    ...['77.88.0.0/18', '37.140.128.0/18', '95.108.128.0/17', '5.45.192.0/18'],
    ...['93.158.128.0/18', '87.250.224.0/19', '213.180.192.0/19', '141.8.128.0/18'],
  ]),
}

const zoho: ProviderProfile = {
  name: 'Zoho',
  hosts: ['.zohomail.com', '.zohomail.eu', '.zohomail.in', '.zoho.com', '.zoho.eu', '.zoho.in'],
  borders: ['mx.zohomail.com', 'mx.zohomail.eu', 'mx.zohomail.in', 'mx.zoho.com', 'mx.zoho.eu'],
  relays: networkSet([]),
  outbound: networkSet(['136.143.188.0/23', '135.84.80.0/22']),
}

const fastmail: ProviderProfile = {
  name: 'Fastmail',
  hosts: ['.messagingengine.com', '.nyi.internal', '.phl.internal', '.stl.internal'],
  borders: ['.messagingengine.com'],
  relays: networkSet([]),
  outbound: networkSet(['66.111.4.0/24', '103.168.172.0/24', '202.12.124.0/24']),
}

/**
 * The known providers. Their ranges are trusted only for mailboxes at the same provider: a
 * Microsoft address is a relay for a Microsoft mailbox and an external host for any other. Sources:
 * the providers' SPF records and published ranges, and the Received lines that their machines
 * write. For a provider that rents out the ranges it sends from, only the names count.
 */
export const providerProfiles: readonly ProviderProfile[] = [
  microsoft,
  google,
  yahoo,
  apple,
  proton,
  gmx,
  orange,
  free,
  sfr,
  laposte,
  ovh,
  mailRu,
  yandex,
  zoho,
  fastmail,
]
