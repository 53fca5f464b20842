import { asked, type Samples } from '../records.ts';

export default {
  'Name of a dynamic DNS service asked for': {
    matches: [...asked('myhome.duckdns.org'), ...asked('X.HOPTO.ORG')],
    spares: [...asked('www.duckdns.org'), ...asked('duckdns.org'), ...asked('duckdns.org.example')],
  },
} satisfies Samples;
