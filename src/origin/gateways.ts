import type { Hop } from './hop.ts'

/** A service that filters or forwards mail in front of the mail servers of its customers. */
type Gateway = {
  name: string
  /**
   * The names under which its machines write Received fields and deliver mail, and its MX names; in
   * lower case.
   */
  hosts: RegExp
  /** Captures the customer, if each has machines of its own. */
  customer?: RegExp
}

/**
 * The known gateways. Most of them also send the mail of their customers, from the same machines.
 * So such a machine as the peer may be on the reporter's side or on the author's, and without the
 * MX records of the reporter nobody can tell. Sources: the MX names that each service tells its
 * customers to use, in its public documentation, and Received fields of public mail.
 */
const gateways: readonly Gateway[] = [
  // community.mimecast.com, "Inbound and outbound gateways"; lines "by relay.mimecast.com".
  {
    name: 'Mimecast',
    hosts: /(^|\.)(mimecast\.com|mimecast\.co\.za|mimecast-offshore\.com)$/,
  },
  // help.proofpoint.com; Essentials uses ppe-hosted.com; lines "(PPS)" and "pps.filterd".
  {
    name: 'Proofpoint',
    hosts: /(^|\.)(pphosted\.com|ppe-hosted\.com|ppops\.net)$/,
    customer: /^m\w+-([\da-f]{8})\.(?:gslb\.)?pphosted\.com$/,
  },
  // techdocs.broadcom.com, "Email Security.cloud": clusterN.*.messagelabs.com.
  { name: 'Symantec MessageLabs', hosts: /(^|\.)(messagelabs\.com)$/ },
  // campus.barracuda.com, "Email Gateway Defense": *.ess.barracudanetworks.com.
  { name: 'Barracuda', hosts: /(^|\.)(barracudanetworks\.com|cudaops\.com)$/ },
  // docs.ces.cisco.com: mx1.<customer>.iphmx.com, esaN.<customer>.iphmx.com.
  {
    name: 'Cisco Secure Email',
    hosts: /(^|\.)(iphmx\.com)$/,
    customer: /\.([\w-]+)\.iphmx\.com$/,
  },
  // docs.trendmicro.com, "Email Security": *.in.tmes.trendmicro.com, *.relay.tmes.trendmicro.com.
  { name: 'Trend Micro', hosts: /(^|\.)(trendmicro\.com|trendmicro\.eu|trendmicro\.co\.jp)$/ },
  // documentation.n-able.com, "Mail Assure": mx*.antispamcloud.com, mx.spamexperts.com.
  { name: 'SpamExperts', hosts: /(^|\.)(antispamcloud\.com|spamexperts\.com|mtaroutes\.com)$/ },
  // support.hornetsecurity.com, "MX records": mx0N.hornetsecurity.com.
  { name: 'Hornetsecurity', hosts: /(^|\.)(hornetsecurity\.com|antispameurope\.com)$/ },
  // docs.sophos.com, "Sophos Gateway": mx-0N-<region>.prod.hydra.sophos.com.
  { name: 'Sophos', hosts: /(^|\.)(hydra\.sophos\.com|reflexion\.net)$/ },
  // docs.fortinet.com, "FortiMail Cloud": gwXXXX.fortimail.com, *.fortimailcloud.com.
  { name: 'FortiMail Cloud', hosts: /(^|\.)(fortimailcloud\.com|fortimail\.com)$/ },
  // www.spamhero.com/support: mx*.spamhero.com.
  { name: 'SpamHero', hosts: /(^|\.)(spamhero\.com)$/ },
  // support.mailroute.net: mail.mailroute.net.
  { name: 'MailRoute', hosts: /(^|\.)(mailroute\.net)$/ },
  // developers.cloudflare.com/email-routing: routeN.mx.cloudflare.net.
  {
    name: 'Cloudflare Email Routing',
    hosts: /(^|\.)(mx\.cloudflare\.net|cloudflare-email\.net|cloudflare-email\.com)$/,
  },
  // docs.aws.amazon.com/ses, "Email receiving": inbound-smtp.<region>.amazonaws.com.
  { name: 'Amazon SES', hosts: /^inbound-smtp\.[\w-]+\.amazonaws\.com$/ },
  // improvmx.com/guides: mx1.improvmx.com, mx2.improvmx.com.
  { name: 'ImprovMX', hosts: /(^|\.)(improvmx\.com)$/ },
]

/** The gateway whose machines have such a name, in lower case. */
export function gatewayOfHost(name: string | undefined): Gateway | undefined {
  if (name === undefined) return undefined
  return gateways.find(({ hosts }) => hosts.test(name))
}

/** Whether a gateway may use both names for the same customer. */
export function isSameGateway(one: string, other: string): boolean {
  const gateway = gatewayOfHost(one)
  if (!gateway || gatewayOfHost(other) !== gateway) return false
  const [first, second] = [one, other].map((name) => gateway.customer?.exec(name)?.[1])
  return first === undefined || second === undefined || first === second
}

/**
 * The gateway that the peer of a line belongs to: by its looked-up name; if no name was looked up,
 * by its own name, if it wrote the next line too.
 */
export function gatewayOfPeer({ rdns, helo }: Hop, next: Hop | undefined): Gateway | undefined {
  if (rdns !== undefined) return gatewayOfHost(rdns)
  const claimed = gatewayOfHost(helo) ?? gatewayOfHost(next?.byHost)
  return claimed && gatewayOfHost(next?.byHost) === claimed ? claimed : undefined
}
