import { asked, type Samples } from '../records.ts';

export default {
  'DNS zone transfer (AXFR)': {
    matches: [...asked('corp.example', 'AXFR')],
    spares: [...asked('corp.example', 'SOA'), ...asked('axfr.example'), ...asked('corp.example', 'NS')],
  },
} satisfies Samples;
