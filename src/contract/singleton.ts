/** Id of singleton resources: the nil UUID (RFC 9562, section 5.9). */
export const onlyId = '00000000-0000-0000-0000-000000000000';
