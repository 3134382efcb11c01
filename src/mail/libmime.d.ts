declare module 'libmime' {
  const libmime: {
    /** Splits a header value into its first part and its parameters (RFC 2045, 2231). */
    parseHeaderValue: (value: string) => { value: string | false; params: Record<string, string> }
    /** Decodes the encoded words in a text (RFC 2047). */
    decodeWords: (text: string) => string
    /** The media type of a file name or extension. */
    detectMimeType: (name: string) => string
  }
  export default libmime
}
