c => { n.inc(); shared++; };
