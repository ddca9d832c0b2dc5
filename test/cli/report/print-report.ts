// Prints the page of the small world, as a process of its own in whatever time zone and language it is started.

import { smallWorld } from "./report-world.ts";

process.stdout.write((await smallWorld().report("uk", "us")).page);
