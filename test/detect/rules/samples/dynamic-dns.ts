import { asked, type Samples } from '../records.ts';

export default {
  'Dynamic DNS lookup': {
    matches: [...asked('myhome.duckdns.org'), ...asked('X.HOPTO.ORG')],
    spares: [...asked('www.duckdns.org'), ...asked('duckdns.org'), ...asked('duckdns.org.example')],
  },
} satisfies Samples;
