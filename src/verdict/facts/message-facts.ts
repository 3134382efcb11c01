import type { MessageFeatures } from '../../pieces/features/features.ts'
import type { WrittenTexts } from '../../pieces/written-texts.ts'
import { bool, double, type FactTable, string, strings } from './fact.ts'

/** Links. All facts but `count` use 60 links: the first ones, but those to new domains before. */
export const linksTable: FactTable<MessageFeatures['links']> = {
  count: double('Number of links.'),
  hosts: double('Number of different hosts.'),
  domains: double('Number of different registrable domains.'),
  ip_hosts: double('Number of hosts that are IP addresses.'),
  odd_ports: double('Number of links with a port other than 80 and 443.'),
  idn_hosts: double('Number of internationalized hosts (Punycode).'),
  disguised_hosts: double('Number of hosts with letters that look like Latin ones.'),
  user_infos: double('Number of links with an @ before the host.'),
  shown_differs: double(
    'Number of links whose text is an address of another organization, at most 100.',
  ),
  shorteners: double('Number of hosts of link shorteners.'),
  free_hosting: double('Number of links to services with free pages for everyone.'),
  forms: double('Number of targets of forms.'),
  places: strings(
    'Where they were found, sorted, each once: html, form, refresh, embedded, data, text, ' +
      'attachment, pdf, qr.',
  ),
  redirects: double('Number of links with another address in their parameters.'),
  executables: double('Number of links to a program or an archive.'),
  site_internals: double('Number of links into internal folders of a site, such as wp-content.'),
  active: double(
    'Number of kinds of links that run a script or contain a page: javascript:, data:.',
  ),
  chars_max: double('Length of the longest link in characters.'),
  labels_max: double('Number of labels of the longest host.'),
  host_digits_max: double('Largest number of digits in a host.'),
  host_hyphens_max: double('Largest number of hyphens in a host.'),
  insecure_share: double('Share of links with plain http, 0 to 1.'),
  parameters_mean: double('Mean number of parameters of a link.'),
  author_share: double('Share of links to the author’s organization, 0 to 1.'),
  only_foreign_domain: bool('All links lead to one domain, which is not the author’s.'),
  names_recipient: bool('A link contains the recipient’s address.'),
  has_unsubscribe: bool('A link or the end of the text is about unsubscribing.'),
}

/** Attached and embedded files. The last four facts are about PDF files, pictures and archives. */
export const attachmentsTable: FactTable<MessageFeatures['attachments']> = {
  count: double('Number of attached or embedded files.'),
  kilobytes: double('Total size in KiB.'),
  images: double('Number of pictures.'),
  pdfs: double('Number of PDF files.'),
  office: double('Number of documents, tables or slides of office programs.'),
  macros: double('Number of files that contain macros or a file named so.'),
  executables: double('Number of programs, by name or content; those in archives count, too.'),
  scripts: double('Number of scripts that Windows or a shell runs, also in archives.'),
  web_pages: double('Number of HTML or SVG files, also in archives.'),
  archives: double('Number of archives.'),
  encrypted_archives: double('Number of archives with a password.'),
  disk_images: double('Number of disk images, also in archives.'),
  shortcuts: double('Number of shortcuts (.lnk, .url …), also in archives.'),
  messages: double('Number of messages.'),
  calendars: double('Number of calendar entries.'),
  double_extensions: double('Number of programs or pages that look like a document: a.pdf.exe.'),
  disguised_names: double(
    'Number of names that reverse the text direction or hide their end behind spaces.',
  ),
  type_differs: double('Number of files whose content differs from their name or type.'),
  extensions: strings('Extensions of their names, sorted, each once, at most 10.'),
  unreadable: double('Number of files that could not be read: damaged or locked.'),
  too_slow: double('Number of files that took too long to read.'),
  too_large: double('Number of files beyond the limits on memory or pixels.'),
  unread: double('Number of files that were not read in time, without a fault.'),
}

/**
 * Visible text. In long texts, only the first 1,024 to 12,288 characters are used, depending on the
 * fact.
 */
export const textTable: FactTable<MessageFeatures['text']> = {
  words: double('Number of visible words, at most 4,000.'),
  is_empty: bool('Nothing is visible: no word and no picture.'),
  html_only: bool('There is an HTML part and no text/plain part.'),
  html_kilobytes: double('Size of the HTML part in KiB.'),
  html_per_character: double('Number of characters of HTML for each visible one.'),
  hidden_styles: double('Number of ways of hiding text that the HTML part uses, 0 to 7.'),
  plain_part_differs: bool('The text/plain part differs from the HTML part.'),
  images: double('Number of pictures in the HTML part, at most 50.'),
  images_only: bool('There are pictures and fewer than 20 words.'),
  forms: bool('The HTML part has a form or an input field.'),
  scripts: bool('The HTML part has a script.'),
  frames: bool('The HTML part embeds a frame or an object.'),
  comments: double('Number of comments in the HTML part, at most 20.'),
  upper_share: double(
    'Share of capitals among the Latin letters, 0 to 1; 0 for fewer than 40 letters.',
  ),
  exclamations: double('Number of exclamation marks.'),
  hidden_characters: double(
    'Number of characters that are invisible or change the text direction.',
  ),
  look_alikes: double('Number of letters of other alphabets that imitate Latin ones.'),
  language: string('en, fr, de, es, it, pt, nl, sv or pl, by its common words; empty if unknown.'),
  script: string(
    'The alphabet of most letters: latin, cyrillic, chinese …; empty without letters.',
  ),
  money_words: double('Number of words about money, from a short list in seven languages.'),
  urgency_words: double('Number of words that urge, from a short list in seven languages.'),
  credential_words: double('Number of words about accounts and passwords, from a short list.'),
  threat_words: double('Number of threats, also to block an account, from a short list.'),
  prize_words: double('Number of words about prizes and gifts, from a short list.'),
  generic_greeting: bool('The greeting has no name: dear customer, cher client and the like.'),
  opt_out_words: double('Number of words about unsubscribing, from a short list.'),
  receipt_words: double('Number of words about orders, invoices and codes, from a short list.'),
  telephones: double('Number of telephone numbers, at most 8.'),
  payment_addresses: double('Number of cryptocurrency addresses, at most 8.'),
  bank_accounts: double('Number of bank accounts (IBAN), at most 8.'),
  mail_addresses: double('Number of mail addresses in the text, at most 8.'),
}

/** What the message says, for patterns and lists. Not stored, and not for models. */
export const contentTable: FactTable<WrittenTexts> = {
  subject: string('The subject, at most 1,000 characters.'),
  subject_words: string('The words of the subject, normalized.'),
  author_name: string('The display name of the author.'),
  author_name_words: string('The words of the author’s display name, normalized.'),
  author_local: string('The local part of the author’s address, in lower case.'),
  text: string('The visible text, at most 32,768 characters.'),
  text_words: string('The words of the visible text, normalized, at most 4,000 words.'),
  addresses: strings(
    'The mail addresses of author, Reply-To, Sender and return path, and those in the text, in ' +
      'lower case, at most 40.',
  ),
  link_hosts: strings('The hosts of the links, in lower case.'),
  links: strings('The links without their scheme: host, path and parameters, at most 100.'),
  file_names: strings('The names of attached and embedded files.'),
  file_hashes: strings('The SHA-256 of attached and embedded files, in hexadecimal.'),
}

export const messageTable: FactTable<MessageFeatures['message']> = {
  kind: string('message, dsn, feedback-report or auto-reply.'),
  is_machine_answer: bool(
    'An automatic message: a bounce, an automatic reply or a feedback report.',
  ),
  is_reduced: bool(
    'The body could not be read. Only the header and the links in the body are known; the links ' +
      'are the text.',
  ),
  kilobytes: double('Size of the whole message in KiB.'),
  has_text: bool('There is a text/plain part that is not empty.'),
  has_html: bool('There is an HTML part.'),
  has_attachment: bool('A file is attached or embedded.'),
  has_list_unsubscribe: bool('List-Unsubscribe gives a web or mail address.'),
}

export const headersTable: FactTable<MessageFeatures['headers']> = {
  fields: double('Number of fields of the header.'),
  date_missing: bool('There is no Date field.'),
  date_duplicate: bool('There is more than one Date field.'),
  date_malformed: bool('The Date field does not contain a date.'),
  date_hours_ahead: double(
    'Hours by which Date is later than the newest Received line; below 0 when it is earlier.',
  ),
  from_missing: bool('There is no From field.'),
  from_duplicate: bool('There is more than one From field.'),
  from_addresses: double('Number of mailboxes in From.'),
  message_id_missing: bool('There is no Message-ID.'),
  message_id_duplicate: bool('There is more than one Message-ID.'),
  message_id_malformed: bool('The Message-ID is not of the form <left@right>.'),
  message_id_local: bool('The right side of the Message-ID is not an Internet domain.'),
  message_id_foreign: bool(
    'The domain of the Message-ID belongs neither to the author nor to the return path.',
  ),
  subject_missing: bool('There is no Subject field.'),
  subject_duplicate: bool('There is more than one Subject field.'),
  subject_chars: double('Number of characters of the subject.'),
  subject_upper_share: double(
    'Share of capitals among the letters of the subject, 0 to 1; 0 for fewer than 8 letters.',
  ),
  subject_exclamations: double('Number of exclamation marks in the subject.'),
  subject_disguised: bool(
    'The subject contains invisible characters or letters of other alphabets.',
  ),
  subject_names_recipient: bool('The subject contains the local part of the recipient’s address.'),
  subject_claims_reply: bool('The subject begins with Re:, but the message is not a reply.'),
  subject_long_blank: bool('The subject has at least eight spaces in a row.'),
  to_missing: bool('There is neither To nor Cc.'),
  to_undisclosed: bool('To says that the recipients are not disclosed.'),
  to_is_author: bool('The first recipient is the author.'),
  recipients: double('Number of mailboxes in To and Cc.'),
  mime_version_missing: bool('A multipart message has no MIME-Version.'),
  boundary_missing: bool('A multipart message has no boundary.'),
  needlessly_encoded: bool('Subject or From is in base64 although it is plain ASCII.'),
  raw_eight_bit: bool('Subject or From contains bytes beyond ASCII that are not encoded.'),
  reply_to_given: bool('Reply-To has an address.'),
  reply_to_other_domain: bool('Reply-To belongs to another organization than the author.'),
  reply_to_free_mail: bool('Reply-To is a free mailbox, and not the author’s address.'),
  sender_other_domain: bool('Sender belongs to another organization than the author.'),
  return_path_other_domain: bool(
    'The return path belongs to another organization than the author.',
  ),
  return_path_empty: bool('The return path is empty, as in a bounce.'),
  mailer: string(
    'The mail program that it names, in lower case, without version, at most 60 characters.',
  ),
  mailer_is_script: bool('It names a script with which websites send mail.'),
  mailer_contradicted: bool('The mail program that it names does not write such boundaries.'),
  priority_high: bool('It is marked as urgent: X-Priority 1 or 2, Importance high.'),
  is_answer: bool('In-Reply-To or References name another message.'),
}

export const authorTable: FactTable<MessageFeatures['author']> = {
  domain: string('The domain of the address in From.'),
  organization: string('The registrable domain of the address in From.'),
  top_level_domain: string('The last label of the author’s domain.'),
  domain_missing: bool('From has no address with a domain.'),
  domain_not_public: bool('The author’s domain cannot exist on the Internet.'),
  domain_free_mail: bool('The author’s address belongs to a free mail provider.'),
  domain_idn: bool('The author’s domain is internationalized (Punycode).'),
  domain_disguised: bool('The author’s domain has letters that look like Latin ones.'),
  domain_labels: double('Number of labels of the author’s domain.'),
  domain_hyphens: double('Number of hyphens of the author’s domain.'),
  domain_digits: double('Number of digits of the author’s domain.'),
  local_chars: double('Length of the local part of the author’s address.'),
  local_digits: double('Number of digits in the local part of the author’s address.'),
  local_random: bool('The local part of the author’s address looks random.'),
  local_is_role: bool('The local part is a role, such as no-reply, info, support or admin.'),
  name_missing: bool('From has no display name.'),
  name_chars: double('Length of the display name.'),
  name_has_address: bool('The display name contains a mail address.'),
  name_other_address: bool('The display name contains a mail address of another organization.'),
  name_other_domain: bool('The display name contains a domain of another organization.'),
  name_disguised: bool(
    'The display name contains invisible characters or letters of other alphabets.',
  ),
  name_is_office: bool('The display name is an office (support, bank …) at a free mail provider.'),
  name_is_recipient_domain: bool(
    'The display name has the name of the recipient’s domain, not of the author’s.',
  ),
}

export const bulkTable: FactTable<MessageFeatures['bulk']> = {
  is_bulk: bool('It is marked as bulk mail: Precedence, List-Id, List-Unsubscribe, Feedback-ID.'),
  unsubscribe_by_web: bool('List-Unsubscribe gives a web address.'),
  unsubscribe_by_mail: bool('List-Unsubscribe gives a mail address.'),
  one_click: bool('One click unsubscribes (RFC 8058).'),
  unsubscribe_of_author: bool('The unsubscribe address belongs to the author’s organization.'),
  unsubscribe_of_signer: bool(
    'The unsubscribe address belongs to an organization with a valid signature.',
  ),
  unsubscribe_missing: bool('Precedence is bulk, list or junk, and there is no List-Unsubscribe.'),
  precedence: string('The Precedence field in lower case.'),
  has_list_id: bool('There is a List-Id.'),
  list_id: string('The identifier in List-Id, in lower case.'),
  has_list_post: bool('There is a List-Post field: a discussion list.'),
  has_feedback_id: bool('There is a Feedback-ID.'),
  has_complaint_address: bool('It names an address for complaints, such as CFBL-Address.'),
  is_automatic: bool('Auto-Submitted marks it as automatic.'),
}

export const authenticationTable: FactTable<MessageFeatures['authentication']> = {
  checked: bool('The DNS was queried; otherwise all of this group but dkim_signatures is empty.'),
  spf: string('pass, fail, softfail, neutral, none, temperror or permerror; empty if not checked.'),
  spf_aligned: bool('SPF passes for the author’s organization.'),
  dkim_signatures: double('Number of DKIM signatures, verified or not.'),
  dkim_passes: double('Number of valid DKIM signatures; at most 4 are checked.'),
  dkim_fails: double(
    'Number of DKIM signatures that do not match the message, which may have been changed.',
  ),
  dkim_aligned: bool('A valid signature belongs to the author’s organization.'),
  unsubscribe_signed: bool(
    'A valid signature of the author’s organization covers List-Unsubscribe.',
  ),
  dmarc: string('pass, fail, none or unknown; empty if not checked.'),
  dmarc_policy: string('The policy of the author’s domain: none, quarantine or reject.'),
  arc: string('pass, fail, none, temperror or unchecked; empty if not checked.'),
  author_stands_behind: bool('DMARC passes, or an aligned signature or SPF does.'),
  author_disowns: bool('DMARC fails, and the author’s domain asks to reject such mail.'),
  signers: strings('The domains of valid signatures, at most 4.'),
}

export const originTable: FactTable<MessageFeatures['origin']> = {
  found: bool('The origin is known.'),
  confidence: double('Confidence of the origin, 0 to 1.'),
  hops: double('Number of Received lines, at most 100.'),
  hops_below: double(
    'Number of Received lines below that of the origin, which cannot be verified.',
  ),
  forged_hops: double('Number of forged Received lines.'),
  has_forged_hop: bool('A Received line below the origin is forged.'),
  time_runs_backwards: bool('A Received line is later than the one above it, by over an hour.'),
  reserved_address: bool('A Received line contains an address that no machine can have.'),
  posing_literal: bool('A machine gave an address that is not its own as its name.'),
  broken_chain: bool(
    'The machine that wrote a Received line is not the one that the line above names.',
  ),
  borrowed_name: bool('A Received line falsely claims to be written by a known provider.'),
  rdns_missing: bool('The line of the origin has no reverse DNS name.'),
  rdns_generic: bool('The name of the origin is that of a subscriber line, not of a mail server.'),
  rdns_organization: string('The registrable domain of the name of the origin.'),
  helo_missing: bool('The line of the origin has no greeting (HELO).'),
  helo_literal: bool('The origin gave an address in its greeting.'),
  helo_bare: bool('The origin gave a name without a dot in its greeting.'),
  helo_fits_rdns: bool('The greeting and the name of the origin belong to one organization.'),
  is_ipv6: bool('The address of the origin is IPv6.'),
  is_encrypted: bool('The origin sent it encrypted.'),
  is_known_provider: bool('The origin belongs to a known mail provider.'),
  is_authenticated: bool(
    'The origin authenticated itself as a customer of the receiving provider.',
  ),
  submitter_known: bool('The client behind the sending provider is known.'),
  submitter_by_web: bool('It was written in a browser, according to the sending provider.'),
}
