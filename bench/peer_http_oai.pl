# Lists and counts with HTTP::OAI: `perl peer_http_oai.pl URL PREFIX` prints the number of records.
use strict;
use warnings;
use HTTP::OAI;

my ($url, $prefix) = @ARGV;
my $count = 0;
my $harvester = HTTP::OAI::Harvester->new(baseURL => $url);
my $response = $harvester->ListRecords(metadataPrefix => $prefix, onRecord => sub { $count++ });
die $response->message . "\n" if $response->is_error;
print "$count\n";
