import { asked, dns, eve, type Samples, times } from '../records.ts';

const long = 'a'.repeat(50);
const name = (n: number, domain = 'tunnel.example') => `${long}.${n}.${domain}`;
const eveDns = (rrname: string, rrtype: string, n: number) =>
  eve('dns', { dest_port: 53, dns: { version: 3, type: 'request', id: n, queries: [{ rrname, rrtype }] } }, n);

export default {
  'Long DNS name': {
    matches: [...asked(name(1))],
    spares: [
      ...asked('www.example.org'),
      ...asked(`${long}.x.eu-west-1.elb.amazonaws.com`),
      ...asked(`${long}.avqs.mcafee.com`),
      ...asked(`${'1.'.repeat(32)}ip6.arpa`),
    ],
  },
  'DNS tunnelling (long names)': {
    matches: [times(50, (n) => dns({ query: name(n) }, n * 60)), times(50, (n) => eveDns(name(n), 'A', n * 60))],
    spares: [
      times(49, (n) => dns({ query: name(n) }, n * 60)),
      times(50, (n) => dns({ query: name(1) }, n * 60)),
      times(50, (n) => dns({ query: name(n, `d${n}.example`) }, n * 60)),
      times(50, (n) => dns({ query: name(n) }, n * 200)),
      times(50, (n) => dns({ query: `${n}.tunnel.example` }, n)),
    ],
  },
  'DNS query of type TXT, NULL or private': {
    matches: [...asked('a.example', 'TXT'), ...asked('a.example', 'NULL')],
    spares: [...asked('a.example'), ...asked('txt.example', 'MX')],
  },
  'DNS tunnelling (TXT or NULL volume)': {
    matches: [times(20, (n) => dns({ query: `${n}.t.example`, qtype_name: 'TXT' }, n * 150))],
    spares: [
      times(19, (n) => dns({ query: `${n}.t.example`, qtype_name: 'TXT' }, n * 150)),
      times(60, (n) => dns({ query: `${n}.t.example`, qtype_name: 'TXT' }, n * 250)),
      times(60, (n) => dns({ query: `_dmarc.d${n}.example`, qtype_name: 'TXT' }, n)),
      times(60, (n) => dns({ query: `${n}.t.example` }, n)),
    ],
  },
  'DNS tunnelling (NULL records, iodine)': {
    matches: [...asked('a.example', 'NULL')],
    spares: [...asked('null.example'), [dns({ query: 'a.example', qtype_name: null })]],
  },
  'DNS tunnel tool (dnscat2, Cobalt Strike DNS stager)': {
    matches: [...asked('dnscat.9fa0014b0000'), ...asked('aaa.stage.123456.c2.example')],
    spares: [...asked('dnscatalog.example'), ...asked('www.dnscat.example'), ...asked('stage.example')],
  },
} satisfies Samples;
