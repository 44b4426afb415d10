BEGIN TRANSACTION;
CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num));
INSERT INTO "alembic_version" VALUES('0003');
CREATE TABLE blob (
	sha256 TEXT NOT NULL, 
	size BIGINT NOT NULL, 
	base TEXT DEFAULT '' NOT NULL, 
	height BIGINT DEFAULT 0 NOT NULL, 
	frame BLOB, 
	file TEXT, 
	CONSTRAINT pk_blob PRIMARY KEY (sha256)
);
INSERT INTO "blob" VALUES('db38cd598b8be2d914b4e988d06da42b564fa63b4363399c01e11da78d7a76ba',1051,'',0,X'28B52FFD601B030D1400466776315069DB0620931937333353DD8F9F92DC4A971FA14F29645CB0901575730359F17A1225020BA87E87FC1F8C6E5B3391134266006B00680090876351C6D40CBEAE8540384A73218B009D5C24E1B8BC406B677C3DC10BB41CB57EBB58DBAC1686B5850AE38E94E084F05E2AD08BFB5945F8017AD51F94604A47CB6A4508CDA598C725A43EBBD9B511420ED8DDB75F8E9C9944ED74D9BD87D4E3F40E640036AEE9D9984E52C3B0A611FC971AA6E2402422C22002390412058EA101838003C4D326CB27FDDA8362FC1BFDCDD6B2D256CCBB56D50DF5344A3B965D4AEFB4B80B5695873E1AEF534D6204477CED14E3C8A993D7A66C9FB441DFA5E3932367AC411A97E35A97F0F1461B0C483DA18F14E1E99B6B4DBBD6945E70E3802CDC2C2BC994FE3C9089504656EF480C4A8A3591D0D1CF2167AEF530E33FA4188FD099CFBF29A5B15DF83759115F57DCD118E807F8AEF5E3B50D1E2460E5AEA7BAD3648C3ACEE5B59314C1EA25D8600E4EC5CCD9CE51E601ECDE436BADBB8460C55778892037B7ECA4E5E0926B1ECC1A984B66BF0B330A7F0D1730F4CBF2977F170B4E5AE7D44C0728F39F302A637EE4EF41471B94C191615116B54AB8797023CD956009149E76D4494DD43F27545077A28698A0B920A519358E94C6D64A9F0444A8911C079532446648A229050AAB032002C29CABF512A0B7B153B0C216B6FEBF014FA8A5866D097B69A56635DDDFBE92EFB26939F539FDA97B72A60F4C394F7E513A2F8A22761E890B94C9A1045028F4D1296451E31015A812E76404CD62CF5E626B95318B86F2B61154B78841B50206EAE27DFFA0870F374F0E6F082D3060E016559434D0BD273964B7C1C61C02E58330A77CAA6C35E98A4CA82FB6EB852B726A193B3E',NULL);
INSERT INTO "blob" VALUES('48cfbd73b4e96875003eab01a6edef2f34194ba7578d29dbe55f6f4603e08faa',1595,'',0,X'28B52FFD603B058D0F00169C5220404DF3B0F12CAAAA9CB6E5B4C1E5E6571DA689DB2646A895BF1E04F6288AEE064B004A004800CE42251F6A45EBD4E6BE7825FD010E380EC68CA5AA3DEA791E49FFF1BD56B2A48AA2B4790DD528F6F96546EA7F9392071797C89D5132503A14BBD7B65BA443AD944C0AAFF508142563D101D669E7CC93B0B919120ED0811C0B09B083A1E920A075208049139CFF2B58227408FEBED8DCEC9AFB3EAEE03C3EFC769C92E8162587E89753E2E0B641101346A45DF4395FA3B44BCCD7630FAAB1E49444EBA09FFE932ADC0D596F7E01E9D6E0D4E6E6869EE1AF782651151F136E52F8155AE5FAD2D8D92D954851E54BA0861AF6A70177730B749876D21F32E4666655905D0CEE5ECBBCD65A6BADB518638C31C618F7FDE952520561BC4AA670715E4ABC361EA59592E699E911A59530F02E5A95AAB1C72A1FC3D55C14B7CEA55199DE8E368F7BB8B84D4C0D43A8D16423302311052223A589A103B00219BADA1C12A02251188519A504C608538263842D4199AAB8757D55603ECAEA38F0A97D9189BEE183B6EE014FDA8B99A5C324C0928CA95DCE91288B6820FE8D26C8D84635E1BDE8AD01033248182F840BF30AF6E1F7754693734328D7A3E4B299B996AE32131164C3071A56981D6B3878DC79871E1E1E6AFE11D679E274C1CD972FAF7E3F1CAB1C6DCC18D7CE14FFBEABEEBEA8',NULL);
INSERT INTO "blob" VALUES('4520fa4f41cb7412d6b673d73a53c4e89a2860b8a19b2404548df91fa0222d56',418,'',0,X'28B52FFD60A2008D0700D20E2E1F5067DDC04EA225121E10D8C990C6231A2CE4D949B2C741A350E9BA64667618ECBA1D5D565D6D97B1E5EAE9091CFE19C8C3FBE0613F8C89828C0CD65321454FC0668BF754D630B2C5E909AD02F89CA7E774B9D1E5661744689224C7F4DC32F3E8A18A2D2D17BFDCD33D18766F79311FF6EA1234A51D034723181AC18034845D3FE3A462759FE801DCFEEF97993ED11B6D971153B5311BFAD812D3282C8A8F5080D6107D66340A94415194AA22FF21B648D0A36AB96E67031400381304C382E0AA449CCDDCACBB3C5E18933B294B14B5AB9A0C2E5F1D0BB734CD3499D9F0090E04F50EDDC27AC144A97A3981D203',NULL);
INSERT INTO "blob" VALUES('69ab72beab7e9f13040a43034bb2b20546c451188282711175224481248f32c2',224,'',0,X'28B52FFD20E05D04003247181A70C73A32104F23AA9148270BF511FD3FFB0DFC16C4E7E4FF5F66F31874932E724F18426BE670F922998C81D6882B281DAF7BCCE22441EC9674271FE6C308710ABCEEE16383EB7A3F965C77508A0983289252C86056BADEDC1B80AEC7D7D2BD090F00520C41054213D57128852D1CE9316DA24514490078590527B31A868404975E426D4E5A2714',NULL);
INSERT INTO "blob" VALUES('d487da8a9cad0cd0f19c2c19538453434cfe90b9bd275adb84dbbce3f15a7658',229,'',0,X'28B52FFD20E595040082071A1C608975AA88C71FF6D5978598760882A0B4017E4B02E220A120109C08B315BA4A37C12BCFE1F5F3C5B9D3B846125E2710C1B4BC6E9B075205D94FE94E46CC88530299E5BA5FA2335CD93B3AE5BAC55A6C20C6A1D64A08F352F6079F1828BB8CDDC0270081D904010F00520C41054213D57128852D1CE9316DA24514490078590527B31A868404975E426D765A2714',NULL);
INSERT INTO "blob" VALUES('6d98134a35c36e88b01f01ac95319cecada4f1914dc0ddb2cbe4bd7bdac6c556',262,'',0,X'28B52FFD6006006504008247191B706975AE479125B21BD0D528FEA35D55F71E2C54D27629FDFFC70C0DC2CC9CA7411A053C86DE9A2925F993E3AD51E411FDE319EC4AF0D66F4E59061A8A656922904923EB2FCDA36FE6EB9A4719F12E013AB4740F9A8B85DD14DFAF349336B722EC8326020F008010301E601870210641210A68229123D8CFD91CA6B0977020849C114215BE46A69E',NULL);
INSERT INTO "blob" VALUES('1df11afc288d548d2278fafa3a8cd9c1f22ae2b10df376b6da24da19ce242554',94,'',0,X'28B52FFD205E7D02009284101780C56D1182A094AD6D49CF0459657D715963CF5B640C25CA2655619BDCE5A3A9C26681A62F86647217D31342708EB6197C3F470AB994FAC6C580A3C665254A1F6703003D4501720F085506',NULL);
INSERT INTO "blob" VALUES('9d27ab3453b33d01a618a3b88cc245c8f223fc77fa344f4c96f2c7cc831fae82',40,'',0,X'28B52FFD20284101006E6F3B6C616E643B726174650A313B4E4F3B342C310A323B53453B332C300A333B444B3B312C350A',NULL);
INSERT INTO "blob" VALUES('4fe0481bd73b95e055492b092c65f4bcb678cc1597f506071263fa076949f415',159,'',0,X'28B52FFD209F8503008286161A90A90DF0CFA30A2FB52D1276272CACE4FFC2DB90A69899AE820ADBBCCD87084562A1284B0D9ED64A9849C0FB21CD9B44894E1E45567AF67BB8048CAE4A0EBFB9F1E1A2ABF670E4308DA37D28E6DC0E3D6D73210D9AB622B020070011E343170A0678008B3D930D670956A6F4',NULL);
INSERT INTO "blob" VALUES('d9d0ba14558a4cc5f742091e6262799175176b3f08cb6610fdce3e965b0d39fc',199,'',0,X'28B52FFD20C70D040092C7181880C50E0C1354FBA59028128DC4B651C2A155DCCC7793D869EBD7F935A952D350A4A15049AD40EB77C69A4AE4B26B1617C59534D6750C94329DF52A89A7E035E48EF5FEE20842980970FFCA399CE18EC2AFF36B74212721E21C4C5BFCED40E08E88060A004B0D80EC90B06108026F66C0D3C29DF66B95E5ABA604BAF30C',NULL);
INSERT INTO "blob" VALUES('8b5cef43919b70dc56c94becb8f782196c873d26262b9a79b5f917c89d95b794',54,'',0,X'28B52FFD2036B101006C6F67206C696E65206F6E650A6C6F67206C696E652074776F2C20352076697369746F72730A507269636520312E323334204555520A',NULL);
CREATE TABLE budget (
	name TEXT NOT NULL, 
	rate_per_second DOUBLE NOT NULL, 
	burst DOUBLE NOT NULL, 
	level DOUBLE NOT NULL, 
	at BIGINT NOT NULL, 
	CONSTRAINT pk_budget PRIMARY KEY (name)
);
INSERT INTO "budget" VALUES('default',5.78703703703703720151e-01,2000.0,1989.0,1700018000000000);
CREATE TABLE change (
	id TEXT NOT NULL, 
	event_seq BIGINT, 
	sentinel_id BIGINT NOT NULL, 
	subscription_id BIGINT NOT NULL, 
	page_id BIGINT NOT NULL, 
	revision BIGINT NOT NULL, 
	kind TEXT NOT NULL, 
	from_seq BIGINT NOT NULL, 
	to_seq BIGINT NOT NULL, 
	rules_version BIGINT NOT NULL, 
	extraction TEXT NOT NULL, 
	quiet SMALLINT DEFAULT 0 NOT NULL, 
	modified_at BIGINT, 
	polled_at BIGINT NOT NULL, 
	detected_at BIGINT NOT NULL, 
	edits TEXT NOT NULL, 
	objects TEXT NOT NULL, 
	texts TEXT NOT NULL, 
	CONSTRAINT pk_change PRIMARY KEY (id), 
	CONSTRAINT fk_change_sentinel_id FOREIGN KEY(sentinel_id) REFERENCES sentinel (id), 
	CONSTRAINT fk_change_subscription_id FOREIGN KEY(subscription_id) REFERENCES subscription (id), 
	CONSTRAINT fk_change_page_id FOREIGN KEY(page_id) REFERENCES page (id)
);
CREATE TABLE comparison (
	subscription_id BIGINT NOT NULL, 
	page_id BIGINT NOT NULL, 
	from_seq BIGINT NOT NULL, 
	to_seq BIGINT NOT NULL, 
	revision BIGINT NOT NULL, 
	status TEXT NOT NULL, 
	attempt BIGINT DEFAULT 0 NOT NULL, 
	reason TEXT DEFAULT '' NOT NULL, 
	at BIGINT NOT NULL, 
	CONSTRAINT pk_comparison PRIMARY KEY (subscription_id, from_seq, to_seq, revision), 
	CONSTRAINT fk_comparison_subscription_id FOREIGN KEY(subscription_id) REFERENCES subscription (id), 
	CONSTRAINT fk_comparison_page_id FOREIGN KEY(page_id) REFERENCES page (id)
);
CREATE TABLE delivery (
	id TEXT NOT NULL, 
	endpoint_id BIGINT NOT NULL, 
	sentinel_id BIGINT NOT NULL, 
	first_seq BIGINT NOT NULL, 
	last_seq BIGINT NOT NULL, 
	changes BIGINT DEFAULT 1 NOT NULL, 
	subject TEXT DEFAULT '' NOT NULL, 
	content_type TEXT NOT NULL, 
	body BLOB NOT NULL, 
	status TEXT NOT NULL, 
	attempt BIGINT DEFAULT 0 NOT NULL, 
	due_at BIGINT NOT NULL, 
	created_at BIGINT NOT NULL, 
	finished_at BIGINT, 
	error TEXT DEFAULT '' NOT NULL, 
	CONSTRAINT pk_delivery PRIMARY KEY (id), 
	CONSTRAINT fk_delivery_endpoint_id FOREIGN KEY(endpoint_id) REFERENCES endpoint (id), 
	CONSTRAINT fk_delivery_sentinel_id FOREIGN KEY(sentinel_id) REFERENCES sentinel (id)
);
CREATE TABLE digest (
	version_id BIGINT NOT NULL, 
	extraction TEXT NOT NULL, 
	rules_version BIGINT NOT NULL, 
	text TEXT NOT NULL, 
	objects TEXT DEFAULT '{}' NOT NULL, 
	CONSTRAINT pk_digest PRIMARY KEY (version_id, extraction, rules_version), 
	CONSTRAINT fk_digest_version_id FOREIGN KEY(version_id) REFERENCES version (id)
);
INSERT INTO "digest" VALUES(1,'page',3,'1e511ddd411407dcba0d7c44637ee02e','{"keyword lamps":"0f1b33f217b97fb9c0bb1e74d16ce23b","lines":"3c17b09ff4fb83fb5398533f731bbab2","lists":"ade2ce6bfc064bfe9f47b15e3141e203","number":"11c8edbc7066ecb42fc8b839bc3f78bc","offers":"d790071021775d26fb98a3b30554f6a8","tables":"a322acfa3dad515c81d4dee3c405fce5","links":"d8b695bf1e2d766807d8372d9c49fc93","images":"3238d1a11e8f139136ea238b58774cdb","links.plain":"ba1ba91d8361c2b0154fd651bd7c98bc","images.plain":"3238d1a11e8f139136ea238b58774cdb"}');
INSERT INTO "digest" VALUES(1,'2df1d2e56114f7a6',3,'1a771df0b932020b2a36253dcb28241f','{"links":"48fbe7189b32849a2b12e445fb042e60","images":"3238d1a11e8f139136ea238b58774cdb","links.plain":"48fbe7189b32849a2b12e445fb042e60","images.plain":"3238d1a11e8f139136ea238b58774cdb"}');
INSERT INTO "digest" VALUES(1,'1c3b48ce581752ad',3,'fc25d3f8d356772834b3523d8a92612d','{"links":"35972cdcca63bd016cf20e81d57d1983","images":"35972cdcca63bd016cf20e81d57d1983","links.plain":"35972cdcca63bd016cf20e81d57d1983","images.plain":"35972cdcca63bd016cf20e81d57d1983"}');
INSERT INTO "digest" VALUES(1,'5e321af699659761',3,'9c1d7964e1a7edb47c721d1648aa7bb0','{"number":"11c8edbc7066ecb42fc8b839bc3f78bc","links":"35972cdcca63bd016cf20e81d57d1983","images":"35972cdcca63bd016cf20e81d57d1983","links.plain":"35972cdcca63bd016cf20e81d57d1983","images.plain":"35972cdcca63bd016cf20e81d57d1983"}');
INSERT INTO "digest" VALUES(1,'7281eda99dab94c2',3,'eb7b08c6c89ff5575cdf8a92e09b5299','{"links":"35972cdcca63bd016cf20e81d57d1983","images":"35972cdcca63bd016cf20e81d57d1983","links.plain":"35972cdcca63bd016cf20e81d57d1983","images.plain":"35972cdcca63bd016cf20e81d57d1983"}');
INSERT INTO "digest" VALUES(1,'8ae63576e916b9b1',3,'b766c0c59db7b14d572eab8b99bc255d','{"links":"35972cdcca63bd016cf20e81d57d1983","images":"242085202b38a7a69e4bd50ab3366916","links.plain":"35972cdcca63bd016cf20e81d57d1983","images.plain":"242085202b38a7a69e4bd50ab3366916"}');
INSERT INTO "digest" VALUES(1,'608cbeaaab387164',3,'5642c235844022994848b8545180c3ec','{"links":"8b722dd8d513353c707e30ae61b77d0f","images":"3238d1a11e8f139136ea238b58774cdb","links.plain":"8b722dd8d513353c707e30ae61b77d0f","images.plain":"3238d1a11e8f139136ea238b58774cdb"}');
INSERT INTO "digest" VALUES(1,'d25213b98ea774ac',3,'1b5fbeeaaf71b641a7f6c040405548ed','{"links":"d8b695bf1e2d766807d8372d9c49fc93","images":"3238d1a11e8f139136ea238b58774cdb","links.plain":"ba1ba91d8361c2b0154fd651bd7c98bc","images.plain":"3238d1a11e8f139136ea238b58774cdb"}');
INSERT INTO "digest" VALUES(2,'page',3,'33f7e58579dea4ea8932ca6a1647c7e2','{"items":"d685178150c0ace7d2841ab73b09cf12","links":"7080ef901cbb32a3e31f9cdd8d1d728a","images":"e7c9d9ca12b78bfd78754d0672926edb","links.plain":"7080ef901cbb32a3e31f9cdd8d1d728a","images.plain":"e7c9d9ca12b78bfd78754d0672926edb"}');
INSERT INTO "digest" VALUES(2,'96a5f190e8b56e7d',3,'e005a547f5d53ebbb9bfef31c12034e5','{"items":"869989d36d19fca1b230114f2fd050a1","links":"8a53aec5a98e87cab459d828f8354f3e","images":"e7c9d9ca12b78bfd78754d0672926edb","links.plain":"8a53aec5a98e87cab459d828f8354f3e","images.plain":"e7c9d9ca12b78bfd78754d0672926edb"}');
INSERT INTO "digest" VALUES(2,'fe9164c1f0f29103',3,'b766c0c59db7b14d572eab8b99bc255d','{"links":"e7c9d9ca12b78bfd78754d0672926edb","images":"e7c9d9ca12b78bfd78754d0672926edb","links.plain":"e7c9d9ca12b78bfd78754d0672926edb","images.plain":"e7c9d9ca12b78bfd78754d0672926edb"}');
INSERT INTO "digest" VALUES(3,'page',3,'fe70178ced8d9b2cb7d819bfbd93c574','{"items":"48343ebc72f528cadcf8cab9f01df3ec","links":"72b466a5a8cf34de371da9b089f83afd","images":"daab22ce2aefe535e32e180836dd2467","links.plain":"72b466a5a8cf34de371da9b089f83afd","images.plain":"daab22ce2aefe535e32e180836dd2467"}');
INSERT INTO "digest" VALUES(4,'page',3,'e6e3fd10f28601b4f1a3508c978830a7','{"items":"ec161c0bfd9f734bef62a61119f02a1c","structure":"f038e9a6e02c7fb08d3053058f7ff314","links":"d8fca67362f888c05e0959a2b9ecfde8","images":"d8fca67362f888c05e0959a2b9ecfde8","links.plain":"d8fca67362f888c05e0959a2b9ecfde8","images.plain":"d8fca67362f888c05e0959a2b9ecfde8"}');
INSERT INTO "digest" VALUES(4,'fd8708098942bdb5',3,'35b9561feceb998b13702c6a696f997d','{"structure":"39765fc5dd04896f61b7e140eb7e1c33","links":"d8fca67362f888c05e0959a2b9ecfde8","images":"d8fca67362f888c05e0959a2b9ecfde8","links.plain":"d8fca67362f888c05e0959a2b9ecfde8","images.plain":"d8fca67362f888c05e0959a2b9ecfde8"}');
INSERT INTO "digest" VALUES(4,'d3c8e3e3eeaf469c',3,'5b543dacce69994e9c6e6b7a4dc91ed7','{"items":"ec161c0bfd9f734bef62a61119f02a1c","structure":"36e6e33fbf0d309afcbcb6e1de589275","links":"d8fca67362f888c05e0959a2b9ecfde8","images":"d8fca67362f888c05e0959a2b9ecfde8","links.plain":"d8fca67362f888c05e0959a2b9ecfde8","images.plain":"d8fca67362f888c05e0959a2b9ecfde8"}');
INSERT INTO "digest" VALUES(4,'3098416af2062e60',3,'1cdbbeab1ab2a89580492f2213175a48','{"number":"dd9dbe97d52eb0183eb67b592f8e2af9","structure":"fb47a0b3149e3433e6d4537293fd5172","links":"d8fca67362f888c05e0959a2b9ecfde8","images":"d8fca67362f888c05e0959a2b9ecfde8","links.plain":"d8fca67362f888c05e0959a2b9ecfde8","images.plain":"d8fca67362f888c05e0959a2b9ecfde8"}');
INSERT INTO "digest" VALUES(5,'page',3,'aab3541a1a4fd288b2d5b0e9c5fd876a','{"links":"473bc8de13df4540e5db210e528d95ec","images":"473bc8de13df4540e5db210e528d95ec","links.plain":"473bc8de13df4540e5db210e528d95ec","images.plain":"473bc8de13df4540e5db210e528d95ec"}');
INSERT INTO "digest" VALUES(6,'page',3,'41f9de9019ea66d31d92829544adc236','{"items":"4961ef748b91860a89714da427b477da","structure":"55743768bec0ce03460646b073310946","links":"3dbabd680996bcf951c21ea6fef21cde","images":"3dbabd680996bcf951c21ea6fef21cde","links.plain":"3dbabd680996bcf951c21ea6fef21cde","images.plain":"3dbabd680996bcf951c21ea6fef21cde"}');
INSERT INTO "digest" VALUES(7,'page',3,'2cb51a3b261323ae3b95dfe3b24466d0','{"items":"17e7a662b0f7934c64e0abbb9d0a75a3","structure":"ac7c33544e8305d05a0b2b2dbecc5281","links":"062f1d7596bb8038306b8ea278d7ebcd","images":"062f1d7596bb8038306b8ea278d7ebcd","links.plain":"062f1d7596bb8038306b8ea278d7ebcd","images.plain":"062f1d7596bb8038306b8ea278d7ebcd"}');
INSERT INTO "digest" VALUES(7,'77aef5c1c4597d74',3,'3734f3224049758bcdf211634d89748a','{"structure":"7f87a36a80fbb9f5a85e7b3144f63d4d","links":"062f1d7596bb8038306b8ea278d7ebcd","images":"062f1d7596bb8038306b8ea278d7ebcd","links.plain":"062f1d7596bb8038306b8ea278d7ebcd","images.plain":"062f1d7596bb8038306b8ea278d7ebcd"}');
INSERT INTO "digest" VALUES(7,'805c5e0ec6ac15e0',3,'b766c0c59db7b14d572eab8b99bc255d','{"links":"062f1d7596bb8038306b8ea278d7ebcd","images":"062f1d7596bb8038306b8ea278d7ebcd","links.plain":"062f1d7596bb8038306b8ea278d7ebcd","images.plain":"062f1d7596bb8038306b8ea278d7ebcd"}');
INSERT INTO "digest" VALUES(8,'page',3,'8a7ea6021c0819075667e014c06a0c6d','{"tables":"3467212ee7f7b1e0f94b90d25857126c","structure":"050f4281c7e4a31f667b87c62d00828e","links":"e1660f2a9a6e8151698fcb3de16bca64","images":"e1660f2a9a6e8151698fcb3de16bca64","links.plain":"e1660f2a9a6e8151698fcb3de16bca64","images.plain":"e1660f2a9a6e8151698fcb3de16bca64"}');
INSERT INTO "digest" VALUES(9,'page',3,'976ae9af3d0fde8669d1f8dfa92e9afa','{"links":"6cc7c0703d1d2e95011b68fb72427d96","images":"6cc7c0703d1d2e95011b68fb72427d96","links.plain":"6cc7c0703d1d2e95011b68fb72427d96","images.plain":"6cc7c0703d1d2e95011b68fb72427d96"}');
INSERT INTO "digest" VALUES(10,'page',3,'134747a912f8d2cf316023b24075cb72','{"items":"ee3c56566f8225d2dcc68fa1b3499100","structure":"b4a6c48ff2d1df0bc77207e7d3f1d621","links":"a441a18a1399f7ddf552f11b1a32298a","images":"a441a18a1399f7ddf552f11b1a32298a","links.plain":"a441a18a1399f7ddf552f11b1a32298a","images.plain":"a441a18a1399f7ddf552f11b1a32298a"}');
INSERT INTO "digest" VALUES(11,'page',3,'6bf5c866b76ba81eb880688908dd43b2','{"number":"cd07361dfd0a030048f1675749c4117f","links":"8cf0886bb058bec9b6826cdbe49c2704","images":"8cf0886bb058bec9b6826cdbe49c2704","links.plain":"8cf0886bb058bec9b6826cdbe49c2704","images.plain":"8cf0886bb058bec9b6826cdbe49c2704"}');
INSERT INTO "digest" VALUES(11,'a652a3bc530f293a',3,'4438d9b4753fb2b6150d735b0c3c8234','{"links":"8cf0886bb058bec9b6826cdbe49c2704","images":"8cf0886bb058bec9b6826cdbe49c2704","links.plain":"8cf0886bb058bec9b6826cdbe49c2704","images.plain":"8cf0886bb058bec9b6826cdbe49c2704"}');
CREATE TABLE endpoint (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	owner_id BIGINT NOT NULL, 
	kind TEXT NOT NULL, 
	address TEXT NOT NULL, 
	enabled SMALLINT DEFAULT 1 NOT NULL, 
	failing_since BIGINT, 
	reason TEXT DEFAULT '' NOT NULL, 
	CONSTRAINT uq_endpoint_owner_id_kind_address UNIQUE (owner_id, kind, address), 
	CONSTRAINT fk_endpoint_owner_id FOREIGN KEY(owner_id) REFERENCES owner (id)
);
CREATE TABLE estimate (
	name TEXT NOT NULL, 
	page_id BIGINT NOT NULL, 
	state TEXT NOT NULL, 
	at BIGINT NOT NULL, 
	CONSTRAINT pk_estimate PRIMARY KEY (name, page_id), 
	CONSTRAINT fk_estimate_page_id FOREIGN KEY(page_id) REFERENCES page (id)
);
INSERT INTO "estimate" VALUES('updated',21,'{"at":1780480800000000}',1700000000000000);
INSERT INTO "estimate" VALUES('updated',28,'{"at":1780308000000000}',1700000000000000);
CREATE TABLE event (
	owner_id BIGINT NOT NULL, 
	seq BIGINT NOT NULL, 
	type TEXT NOT NULL, 
	at BIGINT NOT NULL, 
	sentinel_id BIGINT, 
	page_id BIGINT, 
	change_id TEXT, 
	data TEXT DEFAULT '{}' NOT NULL, 
	CONSTRAINT pk_event PRIMARY KEY (owner_id, seq), 
	CONSTRAINT fk_event_owner_id FOREIGN KEY(owner_id) REFERENCES owner (id)
)
 WITHOUT ROWID

;
INSERT INTO "event" VALUES(1,1,'sentinel.created',1700000000000000,1,NULL,NULL,'{"name":"s0","state":"created"}');
INSERT INTO "event" VALUES(1,2,'sentinel.created',1700000000000000,2,NULL,NULL,'{"name":"s1","state":"created"}');
INSERT INTO "event" VALUES(1,3,'sentinel.created',1700000000000000,3,NULL,NULL,'{"name":"s2","state":"created"}');
INSERT INTO "event" VALUES(1,4,'sentinel.created',1700000000000000,4,NULL,NULL,'{"name":"s3","state":"created"}');
INSERT INTO "event" VALUES(1,5,'sentinel.created',1700000000000000,5,NULL,NULL,'{"name":"s4","state":"created"}');
INSERT INTO "event" VALUES(1,6,'sentinel.created',1700000000000000,6,NULL,NULL,'{"name":"s5","state":"created"}');
INSERT INTO "event" VALUES(1,7,'sentinel.created',1700000000000000,7,NULL,NULL,'{"name":"s6","state":"created"}');
INSERT INTO "event" VALUES(1,8,'sentinel.created',1700000000000000,8,NULL,NULL,'{"name":"s7","state":"created"}');
INSERT INTO "event" VALUES(1,9,'sentinel.created',1700000000000000,9,NULL,NULL,'{"name":"s8","state":"created"}');
INSERT INTO "event" VALUES(1,10,'sentinel.created',1700000000000000,10,NULL,NULL,'{"name":"s9","state":"created"}');
INSERT INTO "event" VALUES(1,11,'sentinel.created',1700000000000000,11,NULL,NULL,'{"name":"s10","state":"created"}');
INSERT INTO "event" VALUES(1,12,'sentinel.created',1700000000000000,12,NULL,NULL,'{"name":"s11","state":"created"}');
INSERT INTO "event" VALUES(1,13,'sentinel.created',1700000000000000,13,NULL,NULL,'{"name":"s12","state":"created"}');
INSERT INTO "event" VALUES(1,14,'sentinel.created',1700000000000000,14,NULL,NULL,'{"name":"s13","state":"created"}');
INSERT INTO "event" VALUES(1,15,'sentinel.created',1700000000000000,15,NULL,NULL,'{"name":"s14","state":"created"}');
INSERT INTO "event" VALUES(1,16,'sentinel.created',1700000000000000,16,NULL,NULL,'{"name":"s15","state":"created"}');
INSERT INTO "event" VALUES(1,17,'sentinel.created',1700000000000000,17,NULL,NULL,'{"name":"s16","state":"created"}');
INSERT INTO "event" VALUES(1,18,'sentinel.created',1700000000000000,18,NULL,NULL,'{"name":"s17","state":"created"}');
INSERT INTO "event" VALUES(1,19,'sentinel.created',1700000000000000,19,NULL,NULL,'{"name":"s18","state":"created"}');
INSERT INTO "event" VALUES(1,20,'sentinel.created',1700000000000000,20,NULL,NULL,'{"name":"s19","state":"created"}');
INSERT INTO "event" VALUES(1,21,'sentinel.created',1700000000000000,21,NULL,NULL,'{"name":"s20","state":"created"}');
INSERT INTO "event" VALUES(1,22,'sentinel.created',1700000000000000,22,NULL,NULL,'{"name":"s21","state":"created"}');
INSERT INTO "event" VALUES(1,23,'sentinel.created',1700000000000000,23,NULL,NULL,'{"name":"s22","state":"created"}');
INSERT INTO "event" VALUES(1,24,'sentinel.created',1700000000000000,24,NULL,NULL,'{"name":"s23","state":"created"}');
INSERT INTO "event" VALUES(1,25,'sentinel.created',1700000000000000,25,NULL,NULL,'{"name":"s24","state":"created"}');
INSERT INTO "event" VALUES(1,26,'sentinel.created',1700000000000000,26,NULL,NULL,'{"name":"s25","state":"created"}');
INSERT INTO "event" VALUES(1,27,'sentinel.created',1700000000000000,27,NULL,NULL,'{"name":"s26","state":"created"}');
INSERT INTO "event" VALUES(1,28,'sentinel.created',1700000000000000,28,NULL,NULL,'{"name":"s27","state":"created"}');
INSERT INTO "event" VALUES(1,29,'sentinel.created',1700000000000000,29,NULL,NULL,'{"name":"s28","state":"created"}');
INSERT INTO "event" VALUES(1,30,'sentinel.created',1700000000000000,30,NULL,NULL,'{"name":"s29","state":"created"}');
INSERT INTO "event" VALUES(1,31,'sentinel.created',1700000000000000,31,NULL,NULL,'{"name":"s30","state":"created"}');
INSERT INTO "event" VALUES(1,32,'sentinel.created',1700000000000000,32,NULL,NULL,'{"name":"s31","state":"created"}');
INSERT INTO "event" VALUES(1,33,'sentinel.created',1700000000000000,33,NULL,NULL,'{"name":"s32","state":"created"}');
INSERT INTO "event" VALUES(1,34,'sentinel.created',1700000000000000,34,NULL,NULL,'{"name":"s33","state":"created"}');
INSERT INTO "event" VALUES(1,35,'sentinel.created',1700000000000000,35,NULL,NULL,'{"name":"s34","state":"created"}');
INSERT INTO "event" VALUES(1,36,'sentinel.created',1700000000000000,36,NULL,NULL,'{"name":"s35","state":"created"}');
INSERT INTO "event" VALUES(1,37,'sentinel.created',1700000000000000,37,NULL,NULL,'{"name":"s36","state":"created"}');
INSERT INTO "event" VALUES(1,38,'sentinel.created',1700000000000000,38,NULL,NULL,'{"name":"s37","state":"created"}');
INSERT INTO "event" VALUES(1,39,'sentinel.created',1700000000000000,39,NULL,NULL,'{"name":"s38","state":"created"}');
INSERT INTO "event" VALUES(1,40,'sentinel.created',1700000000000000,40,NULL,NULL,'{"name":"s39","state":"created"}');
INSERT INTO "event" VALUES(1,41,'sentinel.created',1700000000000000,41,NULL,NULL,'{"name":"s40","state":"created"}');
INSERT INTO "event" VALUES(1,42,'sentinel.created',1700000000000000,42,NULL,NULL,'{"name":"s41","state":"created"}');
INSERT INTO "event" VALUES(1,43,'sentinel.created',1700000000000000,43,NULL,NULL,'{"name":"s42","state":"created"}');
INSERT INTO "event" VALUES(1,44,'sentinel.created',1700000000000000,44,NULL,NULL,'{"name":"s43","state":"created"}');
INSERT INTO "event" VALUES(1,45,'sentinel.created',1700000000000000,45,NULL,NULL,'{"name":"s44","state":"created"}');
INSERT INTO "event" VALUES(1,46,'sentinel.created',1700000000000000,46,NULL,NULL,'{"name":"s45","state":"created"}');
INSERT INTO "event" VALUES(1,47,'sentinel.created',1700000000000000,47,NULL,NULL,'{"name":"s46","state":"created"}');
INSERT INTO "event" VALUES(1,48,'sentinel.created',1700000000000000,48,NULL,NULL,'{"name":"s47","state":"created"}');
INSERT INTO "event" VALUES(1,49,'sentinel.created',1700000000000000,49,NULL,NULL,'{"name":"s48","state":"created"}');
INSERT INTO "event" VALUES(1,50,'sentinel.created',1700000000000000,50,NULL,NULL,'{"name":"s49","state":"created"}');
INSERT INTO "event" VALUES(1,51,'sentinel.created',1700000000000000,51,NULL,NULL,'{"name":"s50","state":"created"}');
INSERT INTO "event" VALUES(1,52,'sentinel.created',1700000000000000,52,NULL,NULL,'{"name":"s51","state":"created"}');
INSERT INTO "event" VALUES(1,53,'sentinel.created',1700000000000000,53,NULL,NULL,'{"name":"s52","state":"created"}');
INSERT INTO "event" VALUES(1,54,'sentinel.created',1700000000000000,54,NULL,NULL,'{"name":"s53","state":"created"}');
INSERT INTO "event" VALUES(1,55,'sentinel.created',1700000000000000,55,NULL,NULL,'{"name":"s54","state":"created"}');
INSERT INTO "event" VALUES(1,56,'sentinel.created',1700000000000000,56,NULL,NULL,'{"name":"s55","state":"created"}');
INSERT INTO "event" VALUES(1,57,'sentinel.created',1700000000000000,57,NULL,NULL,'{"name":"s56","state":"created"}');
INSERT INTO "event" VALUES(1,58,'sentinel.created',1700000000000000,58,NULL,NULL,'{"name":"s57","state":"created"}');
INSERT INTO "event" VALUES(1,59,'sentinel.created',1700000000000000,59,NULL,NULL,'{"name":"s58","state":"created"}');
INSERT INTO "event" VALUES(1,60,'sentinel.created',1700000000000000,60,NULL,NULL,'{"name":"s59","state":"created"}');
INSERT INTO "event" VALUES(1,61,'sentinel.created',1700000000000000,61,NULL,NULL,'{"name":"s60","state":"created"}');
INSERT INTO "event" VALUES(1,62,'sentinel.enabled',1700000000000000,1,NULL,NULL,'{"name":"s0","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,63,'sentinel.enabled',1700000000000000,2,NULL,NULL,'{"name":"s1","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,64,'sentinel.enabled',1700000000000000,3,NULL,NULL,'{"name":"s2","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,65,'sentinel.enabled',1700000000000000,4,NULL,NULL,'{"name":"s3","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,66,'sentinel.enabled',1700000000000000,5,NULL,NULL,'{"name":"s4","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,67,'sentinel.enabled',1700000000000000,6,NULL,NULL,'{"name":"s5","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,68,'sentinel.enabled',1700000000000000,7,NULL,NULL,'{"name":"s6","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,69,'sentinel.enabled',1700000000000000,8,NULL,NULL,'{"name":"s7","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,70,'sentinel.enabled',1700000000000000,9,NULL,NULL,'{"name":"s8","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,71,'sentinel.enabled',1700000000000000,10,NULL,NULL,'{"name":"s9","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,72,'sentinel.enabled',1700000000000000,11,NULL,NULL,'{"name":"s10","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,73,'sentinel.enabled',1700000000000000,12,NULL,NULL,'{"name":"s11","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,74,'sentinel.enabled',1700000000000000,13,NULL,NULL,'{"name":"s12","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,75,'sentinel.enabled',1700000000000000,14,NULL,NULL,'{"name":"s13","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,76,'sentinel.enabled',1700000000000000,15,NULL,NULL,'{"name":"s14","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,77,'sentinel.enabled',1700000000000000,16,NULL,NULL,'{"name":"s15","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,78,'sentinel.enabled',1700000000000000,17,NULL,NULL,'{"name":"s16","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,79,'sentinel.enabled',1700000000000000,18,NULL,NULL,'{"name":"s17","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,80,'sentinel.enabled',1700000000000000,19,NULL,NULL,'{"name":"s18","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,81,'sentinel.enabled',1700000000000000,20,NULL,NULL,'{"name":"s19","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,82,'sentinel.enabled',1700000000000000,21,NULL,NULL,'{"name":"s20","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,83,'sentinel.enabled',1700000000000000,22,NULL,NULL,'{"name":"s21","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,84,'sentinel.enabled',1700000000000000,23,NULL,NULL,'{"name":"s22","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,85,'sentinel.enabled',1700000000000000,24,NULL,NULL,'{"name":"s23","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,86,'sentinel.enabled',1700000000000000,25,NULL,NULL,'{"name":"s24","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,87,'sentinel.enabled',1700000000000000,26,NULL,NULL,'{"name":"s25","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,88,'sentinel.enabled',1700000000000000,27,NULL,NULL,'{"name":"s26","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,89,'sentinel.enabled',1700000000000000,28,NULL,NULL,'{"name":"s27","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,90,'sentinel.enabled',1700000000000000,29,NULL,NULL,'{"name":"s28","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,91,'sentinel.enabled',1700000000000000,30,NULL,NULL,'{"name":"s29","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,92,'sentinel.enabled',1700000000000000,31,NULL,NULL,'{"name":"s30","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,93,'sentinel.enabled',1700000000000000,32,NULL,NULL,'{"name":"s31","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,94,'sentinel.enabled',1700000000000000,33,NULL,NULL,'{"name":"s32","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,95,'sentinel.enabled',1700000000000000,34,NULL,NULL,'{"name":"s33","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,96,'sentinel.enabled',1700000000000000,35,NULL,NULL,'{"name":"s34","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,97,'sentinel.enabled',1700000000000000,36,NULL,NULL,'{"name":"s35","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,98,'sentinel.enabled',1700000000000000,37,NULL,NULL,'{"name":"s36","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,99,'sentinel.enabled',1700000000000000,38,NULL,NULL,'{"name":"s37","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,100,'sentinel.enabled',1700000000000000,39,NULL,NULL,'{"name":"s38","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,101,'sentinel.enabled',1700000000000000,40,NULL,NULL,'{"name":"s39","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,102,'sentinel.enabled',1700000000000000,41,NULL,NULL,'{"name":"s40","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,103,'sentinel.enabled',1700000000000000,42,NULL,NULL,'{"name":"s41","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,104,'sentinel.enabled',1700000000000000,43,NULL,NULL,'{"name":"s42","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,105,'sentinel.enabled',1700000000000000,44,NULL,NULL,'{"name":"s43","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,106,'sentinel.enabled',1700000000000000,45,NULL,NULL,'{"name":"s44","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,107,'sentinel.enabled',1700000000000000,46,NULL,NULL,'{"name":"s45","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,108,'sentinel.enabled',1700000000000000,47,NULL,NULL,'{"name":"s46","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,109,'sentinel.enabled',1700000000000000,48,NULL,NULL,'{"name":"s47","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,110,'sentinel.enabled',1700000000000000,49,NULL,NULL,'{"name":"s48","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,111,'sentinel.enabled',1700000000000000,50,NULL,NULL,'{"name":"s49","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,112,'sentinel.enabled',1700000000000000,51,NULL,NULL,'{"name":"s50","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,113,'sentinel.enabled',1700000000000000,52,NULL,NULL,'{"name":"s51","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,114,'sentinel.enabled',1700000000000000,53,NULL,NULL,'{"name":"s52","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,115,'sentinel.enabled',1700000000000000,54,NULL,NULL,'{"name":"s53","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,116,'sentinel.enabled',1700000000000000,55,NULL,NULL,'{"name":"s54","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,117,'sentinel.enabled',1700000000000000,56,NULL,NULL,'{"name":"s55","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,118,'sentinel.enabled',1700000000000000,57,NULL,NULL,'{"name":"s56","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,119,'sentinel.enabled',1700000000000000,58,NULL,NULL,'{"name":"s57","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,120,'sentinel.enabled',1700000000000000,59,NULL,NULL,'{"name":"s58","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,121,'sentinel.enabled',1700000000000000,60,NULL,NULL,'{"name":"s59","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,122,'sentinel.enabled',1700000000000000,61,NULL,NULL,'{"name":"s60","before":"created","reason":""}');
INSERT INTO "event" VALUES(1,123,'page.first',1700000000000000,NULL,1,NULL,'{"title":"Shop","media_type":"html","words":46,"links":4,"images":3,"scripts_only":false,"login":false,"first_words":"Home top a Lamps Only $1999 today, 1.299,- before secret 5 years Buy 1999 EURwrite 19.99 Auf Lager insur\u00adance \u0130stanbul caf\u00e9 H2O and 102,","note":"","problem":""}');
INSERT INTO "event" VALUES(1,124,'page.first',1700000000000000,NULL,21,NULL,'{"title":"News","media_type":"feed","words":67,"links":5,"images":0,"scripts_only":false,"login":false,"first_words":"News / /i.png i 3 Entry 3 &amp; more /e/3 text 3 Mon, 03 Jun 2026 10:00:00 GMT Other 3 who 3 2 Entry","note":"","problem":""}');
INSERT INTO "event" VALUES(1,125,'page.first',1700000000000000,NULL,28,NULL,'{"title":"Blog","media_type":"feed","words":11,"links":2,"images":0,"scripts_only":false,"login":false,"first_words":"Blog a1 An entry Five people 2026-06-01T10:00:00Z","note":"","problem":""}');
INSERT INTO "event" VALUES(1,126,'page.first',1700000000000000,NULL,32,NULL,'{"title":"","media_type":"json","words":28,"links":0,"images":0,"scripts_only":false,"login":false,"first_words":"items id 9007199254740993 n 100.0 name lamp price 10.0 id 2 name desk price 12.5 series 1 2 3 services name db status up","note":"","problem":""}');
INSERT INTO "event" VALUES(1,127,'page.first',1700000000000000,NULL,38,NULL,'{"title":"","media_type":"text","words":28,"links":0,"images":0,"scripts_only":false,"login":false,"first_words":")]}'' {\"items\": [{\"id\": 9007199254740993, \"name\": \"lamp\", \"price\": 10.0, \"n\": 100.0}, {\"id\": 2, \"name\": \"desk\", \"price\": 12.5}], \"services\": [{\"name\": \"db\", \"sta","note":"","problem":""}');
INSERT INTO "event" VALUES(1,128,'page.first',1700000000000000,NULL,40,NULL,'{"title":"","media_type":"json","words":45,"links":0,"images":0,"scripts_only":false,"login":false,"first_words":"items attachments url /2.mp3 content_html <p>text 2</p> id 2 url /2 attachments url /1.mp3 content_html <p>text 1</p> id 1 url /1 title t version","note":"","problem":""}');
INSERT INTO "event" VALUES(1,129,'page.first',1700000000000000,NULL,44,NULL,'{"title":"","media_type":"xml","words":7,"links":0,"images":0,"scripts_only":false,"login":false,"first_words":"1 1.08 one 2 9 two three","note":"","problem":""}');
INSERT INTO "event" VALUES(1,130,'page.first',1700000000000000,NULL,49,NULL,'{"title":"","media_type":"csv","words":12,"links":0,"images":0,"scripts_only":false,"login":false,"first_words":"no land rate 1 NO 4,1 2 SE 3,0 3 DK 1,5","note":"","problem":""}');
INSERT INTO "event" VALUES(1,131,'page.first',1700000000000000,NULL,52,NULL,'{"title":"","media_type":"text","words":21,"links":0,"images":0,"scripts_only":false,"login":false,"first_words":"BEGIN:VCALENDAR VERSION:2.0 PRODID:x BEGIN:VEVENT UID:1@x DTSTAMP:20260601T100000Z DTSTART:20270101T100000Z SUMMARY:Meeting END:VEVENT END:VCALENDAR","note":"","problem":""}');
INSERT INTO "event" VALUES(1,132,'page.first',1700000000000000,NULL,54,NULL,'{"title":"","media_type":"xml","words":11,"links":0,"images":0,"scripts_only":false,"login":false,"first_words":"http://x.example/1 2026-06-01 http://x.example/2","note":"","problem":""}');
INSERT INTO "event" VALUES(1,133,'page.first',1700000000000000,NULL,58,NULL,'{"title":"","media_type":"text","words":11,"links":0,"images":0,"scripts_only":false,"login":false,"first_words":"log line one log line two, 5 visitors Price 1.234 EUR","note":"","problem":""}');
CREATE TABLE event_key (
	source_id BIGINT NOT NULL, 
	taken_key TEXT NOT NULL, 
	seq BIGINT NOT NULL, 
	at BIGINT NOT NULL, 
	CONSTRAINT pk_event_key PRIMARY KEY (source_id, taken_key), 
	CONSTRAINT fk_event_key_source_id FOREIGN KEY(source_id) REFERENCES event_source (id)
);
CREATE TABLE event_source (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	owner_id BIGINT NOT NULL, 
	name TEXT NOT NULL, 
	origin TEXT NOT NULL, 
	text TEXT NOT NULL, 
	created_at BIGINT NOT NULL, 
	due_at BIGINT, 
	checked_at BIGINT, 
	state TEXT DEFAULT '{}' NOT NULL, 
	happened BIGINT DEFAULT 0 NOT NULL, 
	happened_at BIGINT, 
	problem TEXT DEFAULT '' NOT NULL, 
	CONSTRAINT uq_event_source_owner_id_name UNIQUE (owner_id, name), 
	CONSTRAINT fk_event_source_owner_id FOREIGN KEY(owner_id) REFERENCES owner (id)
);
CREATE TABLE garbage (
	path TEXT NOT NULL, 
	at BIGINT NOT NULL, 
	CONSTRAINT pk_garbage PRIMARY KEY (path)
);
CREATE TABLE hint (
	page_id BIGINT NOT NULL, 
	kind TEXT NOT NULL, 
	waiting TEXT DEFAULT '[]' NOT NULL, 
	state TEXT DEFAULT '{}' NOT NULL, 
	at BIGINT NOT NULL, 
	CONSTRAINT pk_hint PRIMARY KEY (page_id, kind), 
	CONSTRAINT fk_hint_page_id FOREIGN KEY(page_id) REFERENCES page (id)
);
CREATE TABLE host (
	name TEXT NOT NULL, 
	started_at BIGINT, 
	paused_until BIGINT, 
	failures BIGINT DEFAULT 0 NOT NULL, 
	robots BLOB, 
	robots_status TEXT DEFAULT '' NOT NULL, 
	robots_at BIGINT, 
	CONSTRAINT pk_host PRIMARY KEY (name)
);
INSERT INTO "host" VALUES('127.0.0.1:18799',1700018000000000,NULL,0,NULL,'',NULL);
CREATE TABLE instance (
	id TEXT NOT NULL, 
	restore_epoch BIGINT DEFAULT 0 NOT NULL, 
	hash_seed BIGINT NOT NULL, 
	created_at BIGINT NOT NULL, 
	CONSTRAINT pk_instance PRIMARY KEY (id)
);
INSERT INTO "instance" VALUES('308ded2835f142a6b216257996b8cb63',0,4975899443401043067,1795910266160351);
CREATE TABLE lease (
	name TEXT NOT NULL, 
	holder TEXT DEFAULT '' NOT NULL, 
	epoch BIGINT DEFAULT 0 NOT NULL, 
	until BIGINT DEFAULT 0 NOT NULL, 
	CONSTRAINT pk_lease PRIMARY KEY (name)
);
INSERT INTO "lease" VALUES('poller','',1,0);
CREATE TABLE owner (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	name TEXT NOT NULL, 
	last_seq BIGINT DEFAULT 0 NOT NULL, 
	rules_seq BIGINT DEFAULT 0 NOT NULL
);
INSERT INTO "owner" VALUES(1,'local',133,122);
CREATE TABLE page (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	"key" TEXT NOT NULL, 
	url TEXT NOT NULL, 
	given TEXT NOT NULL, 
	host TEXT NOT NULL, 
	method TEXT DEFAULT 'GET' NOT NULL, 
	render TEXT DEFAULT '' NOT NULL, 
	frames BIGINT DEFAULT 0 NOT NULL, 
	headers TEXT DEFAULT '[]' NOT NULL, 
	owner_id BIGINT, 
	last_seq BIGINT DEFAULT 0 NOT NULL, 
	body_size BIGINT DEFAULT (-1) NOT NULL, 
	body_xxh3 TEXT DEFAULT '' NOT NULL, 
	text_digest TEXT DEFAULT '' NOT NULL, 
	charset TEXT DEFAULT '' NOT NULL, 
	title TEXT DEFAULT '' NOT NULL, 
	final_url TEXT DEFAULT '' NOT NULL, 
	etag BLOB, 
	last_modified BLOB, 
	polled_at BIGINT, 
	checked_at BIGINT, 
	changed_at BIGINT, 
	text_changed_at BIGINT, 
	health TEXT DEFAULT 'ok' NOT NULL, 
	kind TEXT DEFAULT '' NOT NULL, 
	reason TEXT DEFAULT '' NOT NULL, 
	failures BIGINT DEFAULT 0 NOT NULL, 
	failing_since BIGINT, 
	retry_at BIGINT, 
	polls BIGINT DEFAULT 0 NOT NULL, 
	changes BIGINT DEFAULT 0 NOT NULL, 
	unconditional_in BIGINT DEFAULT 0 NOT NULL, 
	honest_streak BIGINT DEFAULT 0 NOT NULL, 
	audited_at BIGINT, 
	suspect_kind TEXT DEFAULT '' NOT NULL, 
	suspect_sha256 TEXT DEFAULT '' NOT NULL, 
	suspect_at BIGINT, 
	moved_to TEXT DEFAULT '' NOT NULL, 
	moved_at BIGINT, 
	moved_sights BIGINT DEFAULT 0 NOT NULL, 
	body TEXT DEFAULT '' NOT NULL, 
	trust TEXT DEFAULT '' NOT NULL, 
	proxy TEXT DEFAULT '' NOT NULL, 
	fresh_until BIGINT, 
	fresh_doubt BIGINT DEFAULT 0 NOT NULL, 
	collected BIGINT DEFAULT 0 NOT NULL, 
	differing BIGINT DEFAULT 0 NOT NULL, 
	differing_soon BIGINT DEFAULT 0 NOT NULL, 
	saturated_quiet BIGINT DEFAULT 0 NOT NULL, 
	saturated_at BIGINT, 
	CONSTRAINT uq_page_key UNIQUE ("key"), 
	CONSTRAINT fk_page_owner_id FOREIGN KEY(owner_id) REFERENCES owner (id)
);
INSERT INTO "page" VALUES(1,'f1a5134fbfada5a4342f3c6ebac06a0468e1ca58a17892206973374c0271396f','http://127.0.0.1:18799/shop','http://127.0.0.1:18799/shop','127.0.0.1:18799','GET','',0,'[]',NULL,1,1051,'a902c8c7a1451adf5bdbd0872a4e41d7','1e511ddd411407dcba0d7c44637ee02e','utf-8','Shop','http://127.0.0.1:18799/shop',NULL,NULL,1700018000000000,1700018000000000,1700000000000000,NULL,'ok','','',0,NULL,NULL,6,0,0,6,1700018000000000,'','',NULL,'',NULL,0,'','','',NULL,0,0,0,0,0,NULL);
INSERT INTO "page" VALUES(21,'6e9d69080f12e04e21ea26de30e2541983a8b57632dba5b8be0e85d7a4508c55','http://127.0.0.1:18799/rss','http://127.0.0.1:18799/rss','127.0.0.1:18799','GET','',0,'[]',NULL,1,1595,'42cdb7b668ca8d6bddd5b6965d4c094b','33f7e58579dea4ea8932ca6a1647c7e2','utf-8','News','http://127.0.0.1:18799/rss',NULL,NULL,1700018000000000,1700018000000000,1700000000000000,NULL,'ok','','',0,NULL,NULL,6,0,0,6,1700018000000000,'','',NULL,'',NULL,0,'','','',NULL,0,0,0,0,0,NULL);
INSERT INTO "page" VALUES(28,'905d2aed98b88c61053a4852e2059d509a60b885d08b083167ea437d5c96b1b1','http://127.0.0.1:18799/atom','http://127.0.0.1:18799/atom','127.0.0.1:18799','GET','',0,'[]',NULL,1,418,'59c2f58d37d3c052594680ac74394219','fe70178ced8d9b2cb7d819bfbd93c574','utf-8','Blog','http://127.0.0.1:18799/atom',NULL,NULL,1700018000000000,1700018000000000,1700000000000000,NULL,'ok','','',0,NULL,NULL,6,0,0,6,1700018000000000,'','',NULL,'',NULL,0,'','','',NULL,0,0,0,0,0,NULL);
INSERT INTO "page" VALUES(32,'0bd7e6b235f339124f5709471e2eebdc970046bc648305c8b152f958cc4605f4','http://127.0.0.1:18799/data','http://127.0.0.1:18799/data','127.0.0.1:18799','GET','',0,'[]',NULL,1,224,'62e5a705cb9a66baee9cf49a963f1051','e6e3fd10f28601b4f1a3508c978830a7','utf-8','','http://127.0.0.1:18799/data',NULL,NULL,1700018000000000,1700018000000000,1700000000000000,NULL,'ok','','',0,NULL,NULL,6,0,0,6,1700018000000000,'','',NULL,'',NULL,0,'','','',NULL,0,0,0,0,0,NULL);
INSERT INTO "page" VALUES(38,'ab2f45553c40b914922a64896a742d90ce1fadf16cd1ca5156d166c5b3406b41','http://127.0.0.1:18799/wrapped','http://127.0.0.1:18799/wrapped','127.0.0.1:18799','GET','',0,'[]',NULL,1,229,'7a3c4674945383c3d05d1f69ca36d064','aab3541a1a4fd288b2d5b0e9c5fd876a','utf-8','','http://127.0.0.1:18799/wrapped',NULL,NULL,1700018000000000,1700018000000000,1700000000000000,NULL,'ok','','',0,NULL,NULL,6,0,0,6,1700018000000000,'','',NULL,'',NULL,0,'','','',NULL,0,0,0,0,0,NULL);
INSERT INTO "page" VALUES(40,'7b872d1940625ded646e4aea14424bb1a7de49b682214a61b61fd934b343a08d','http://127.0.0.1:18799/feed.json','http://127.0.0.1:18799/feed.json','127.0.0.1:18799','GET','',0,'[]',NULL,1,262,'8e89ee6f3180eb18a7f28338bfe17429','41f9de9019ea66d31d92829544adc236','utf-8','','http://127.0.0.1:18799/feed.json',NULL,NULL,1700018000000000,1700018000000000,1700000000000000,NULL,'ok','','',0,NULL,NULL,6,0,0,6,1700018000000000,'','',NULL,'',NULL,0,'','','',NULL,0,0,0,0,0,NULL);
INSERT INTO "page" VALUES(44,'8b9a77bc23ac4a740c0f42d52da944f1bdf9bfc69a3e5b56d16830d570b893bd','http://127.0.0.1:18799/xml','http://127.0.0.1:18799/xml','127.0.0.1:18799','GET','',0,'[]',NULL,1,94,'4782a0b3b17d5036bf4c217085decdf7','2cb51a3b261323ae3b95dfe3b24466d0','utf-8','','http://127.0.0.1:18799/xml',NULL,NULL,1700018000000000,1700018000000000,1700000000000000,NULL,'ok','','',0,NULL,NULL,6,0,0,6,1700018000000000,'','',NULL,'',NULL,0,'','','',NULL,0,0,0,0,0,NULL);
INSERT INTO "page" VALUES(49,'87f185196fe2da0fb599136b59064d3652646f831323dd1272fae3a91717b8af','http://127.0.0.1:18799/csv','http://127.0.0.1:18799/csv','127.0.0.1:18799','GET','',0,'[]',NULL,1,40,'238e2b19f3bf7fc2151c9aac94945f9a','8a7ea6021c0819075667e014c06a0c6d','utf-8','','http://127.0.0.1:18799/csv',NULL,NULL,1700018000000000,1700018000000000,1700000000000000,NULL,'ok','','',0,NULL,NULL,6,0,0,6,1700018000000000,'','',NULL,'',NULL,0,'','','',NULL,0,0,0,0,0,NULL);
INSERT INTO "page" VALUES(52,'a8de205d8aa5328f0dc082eecb8303d563267aca63f89b26cdd561f3a25042df','http://127.0.0.1:18799/ics','http://127.0.0.1:18799/ics','127.0.0.1:18799','GET','',0,'[]',NULL,1,159,'56ebd8f93f9f71289e179d05f7188506','976ae9af3d0fde8669d1f8dfa92e9afa','utf-8','','http://127.0.0.1:18799/ics',NULL,NULL,1700018000000000,1700018000000000,1700000000000000,NULL,'ok','','',0,NULL,NULL,6,0,0,6,1700018000000000,'','',NULL,'',NULL,0,'','','',NULL,0,0,0,0,0,NULL);
INSERT INTO "page" VALUES(54,'3e970966ee6befb32b153dc2b307e9b002f2051a46f687e31c7f51df7f8a6d43','http://127.0.0.1:18799/sitemap','http://127.0.0.1:18799/sitemap','127.0.0.1:18799','GET','',0,'[]',NULL,1,199,'7996f5b8506105799aba83bf089eb5ec','134747a912f8d2cf316023b24075cb72','utf-8','','http://127.0.0.1:18799/sitemap',NULL,NULL,1700018000000000,1700018000000000,1700000000000000,NULL,'ok','','',0,NULL,NULL,6,0,0,6,1700018000000000,'','',NULL,'',NULL,0,'','','',NULL,0,0,0,0,0,NULL);
INSERT INTO "page" VALUES(58,'d649ba9610e2f02b5a400e5553bd0b621673548a638b77867b090ac8ff4cb965','http://127.0.0.1:18799/text','http://127.0.0.1:18799/text','127.0.0.1:18799','GET','',0,'[]',NULL,1,54,'d54d8e83b4126c87de5924724599f394','6bf5c866b76ba81eb880688908dd43b2','utf-8','','http://127.0.0.1:18799/text',NULL,NULL,1700018000000000,1700018000000000,1700000000000000,NULL,'ok','','',0,NULL,NULL,6,0,0,6,1700018000000000,'','',NULL,'',NULL,0,'','','',NULL,0,0,0,0,0,NULL);
CREATE TABLE page_member (
	page_id BIGINT NOT NULL, 
	position BIGINT NOT NULL, 
	member_id BIGINT NOT NULL, 
	told SMALLINT DEFAULT 0 NOT NULL, 
	CONSTRAINT pk_page_member PRIMARY KEY (page_id, position), 
	CONSTRAINT fk_page_member_page_id FOREIGN KEY(page_id) REFERENCES page (id), 
	CONSTRAINT fk_page_member_member_id FOREIGN KEY(member_id) REFERENCES page (id)
);
CREATE TABLE poll (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	page_id BIGINT NOT NULL, 
	epoch BIGINT NOT NULL, 
	charged_at BIGINT NOT NULL, 
	cost DOUBLE NOT NULL, 
	reason TEXT NOT NULL, 
	budget TEXT NOT NULL, 
	finished_at BIGINT, 
	outcome TEXT, 
	text_changed SMALLINT DEFAULT 0 NOT NULL, 
	status BIGINT, 
	kind TEXT DEFAULT '' NOT NULL, 
	bytes BIGINT DEFAULT 0 NOT NULL, 
	requests BIGINT DEFAULT 1 NOT NULL, 
	note TEXT DEFAULT '' NOT NULL, 
	CONSTRAINT fk_poll_page_id FOREIGN KEY(page_id) REFERENCES page (id)
);
INSERT INTO "poll" VALUES(1,1,1,1700000000000000,1.0,'interval','default',1700000000000000,'new',0,200,'',1051,1,'interval');
INSERT INTO "poll" VALUES(2,21,1,1700000000000000,1.0,'interval','default',1700000000000000,'new',0,200,'',1595,1,'interval');
INSERT INTO "poll" VALUES(3,28,1,1700000000000000,1.0,'interval','default',1700000000000000,'new',0,200,'',418,1,'interval');
INSERT INTO "poll" VALUES(4,32,1,1700000000000000,1.0,'interval','default',1700000000000000,'new',0,200,'',224,1,'interval');
INSERT INTO "poll" VALUES(5,38,1,1700000000000000,1.0,'interval','default',1700000000000000,'new',0,200,'',229,1,'interval');
INSERT INTO "poll" VALUES(6,40,1,1700000000000000,1.0,'interval','default',1700000000000000,'new',0,200,'',262,1,'interval');
INSERT INTO "poll" VALUES(7,44,1,1700000000000000,1.0,'interval','default',1700000000000000,'new',0,200,'',94,1,'interval');
INSERT INTO "poll" VALUES(8,49,1,1700000000000000,1.0,'interval','default',1700000000000000,'new',0,200,'',40,1,'interval');
INSERT INTO "poll" VALUES(9,52,1,1700000000000000,1.0,'interval','default',1700000000000000,'new',0,200,'',159,1,'interval');
INSERT INTO "poll" VALUES(10,54,1,1700000000000000,1.0,'interval','default',1700000000000000,'new',0,200,'',199,1,'interval');
INSERT INTO "poll" VALUES(11,58,1,1700000000000000,1.0,'interval','default',1700000000000000,'new',0,200,'',54,1,'interval');
INSERT INTO "poll" VALUES(12,1,1,1700003600000000,1.0,'interval','default',1700003600000000,'unchanged',0,200,'',1051,1,'interval');
INSERT INTO "poll" VALUES(13,21,1,1700003600000000,1.0,'interval','default',1700003600000000,'unchanged',0,200,'',1595,1,'interval');
INSERT INTO "poll" VALUES(14,28,1,1700003600000000,1.0,'interval','default',1700003600000000,'unchanged',0,200,'',418,1,'interval');
INSERT INTO "poll" VALUES(15,32,1,1700003600000000,1.0,'interval','default',1700003600000000,'unchanged',0,200,'',224,1,'interval');
INSERT INTO "poll" VALUES(16,38,1,1700003600000000,1.0,'interval','default',1700003600000000,'unchanged',0,200,'',229,1,'interval');
INSERT INTO "poll" VALUES(17,40,1,1700003600000000,1.0,'interval','default',1700003600000000,'unchanged',0,200,'',262,1,'interval');
INSERT INTO "poll" VALUES(18,44,1,1700003600000000,1.0,'interval','default',1700003600000000,'unchanged',0,200,'',94,1,'interval');
INSERT INTO "poll" VALUES(19,49,1,1700003600000000,1.0,'interval','default',1700003600000000,'unchanged',0,200,'',40,1,'interval');
INSERT INTO "poll" VALUES(20,52,1,1700003600000000,1.0,'interval','default',1700003600000000,'unchanged',0,200,'',159,1,'interval');
INSERT INTO "poll" VALUES(21,54,1,1700003600000000,1.0,'interval','default',1700003600000000,'unchanged',0,200,'',199,1,'interval');
INSERT INTO "poll" VALUES(22,58,1,1700003600000000,1.0,'interval','default',1700003600000000,'unchanged',0,200,'',54,1,'interval');
INSERT INTO "poll" VALUES(23,1,1,1700007200000000,1.0,'interval','default',1700007200000000,'unchanged',0,200,'',1051,1,'interval');
INSERT INTO "poll" VALUES(24,21,1,1700007200000000,1.0,'interval','default',1700007200000000,'unchanged',0,200,'',1595,1,'interval');
INSERT INTO "poll" VALUES(25,28,1,1700007200000000,1.0,'interval','default',1700007200000000,'unchanged',0,200,'',418,1,'interval');
INSERT INTO "poll" VALUES(26,32,1,1700007200000000,1.0,'interval','default',1700007200000000,'unchanged',0,200,'',224,1,'interval');
INSERT INTO "poll" VALUES(27,38,1,1700007200000000,1.0,'interval','default',1700007200000000,'unchanged',0,200,'',229,1,'interval');
INSERT INTO "poll" VALUES(28,40,1,1700007200000000,1.0,'interval','default',1700007200000000,'unchanged',0,200,'',262,1,'interval');
INSERT INTO "poll" VALUES(29,44,1,1700007200000000,1.0,'interval','default',1700007200000000,'unchanged',0,200,'',94,1,'interval');
INSERT INTO "poll" VALUES(30,49,1,1700007200000000,1.0,'interval','default',1700007200000000,'unchanged',0,200,'',40,1,'interval');
INSERT INTO "poll" VALUES(31,52,1,1700007200000000,1.0,'interval','default',1700007200000000,'unchanged',0,200,'',159,1,'interval');
INSERT INTO "poll" VALUES(32,54,1,1700007200000000,1.0,'interval','default',1700007200000000,'unchanged',0,200,'',199,1,'interval');
INSERT INTO "poll" VALUES(33,58,1,1700007200000000,1.0,'interval','default',1700007200000000,'unchanged',0,200,'',54,1,'interval');
INSERT INTO "poll" VALUES(34,1,1,1700010800000000,1.0,'interval','default',1700010800000000,'unchanged',0,200,'',1051,1,'interval');
INSERT INTO "poll" VALUES(35,21,1,1700010800000000,1.0,'interval','default',1700010800000000,'unchanged',0,200,'',1595,1,'interval');
INSERT INTO "poll" VALUES(36,28,1,1700010800000000,1.0,'interval','default',1700010800000000,'unchanged',0,200,'',418,1,'interval');
INSERT INTO "poll" VALUES(37,32,1,1700010800000000,1.0,'interval','default',1700010800000000,'unchanged',0,200,'',224,1,'interval');
INSERT INTO "poll" VALUES(38,38,1,1700010800000000,1.0,'interval','default',1700010800000000,'unchanged',0,200,'',229,1,'interval');
INSERT INTO "poll" VALUES(39,40,1,1700010800000000,1.0,'interval','default',1700010800000000,'unchanged',0,200,'',262,1,'interval');
INSERT INTO "poll" VALUES(40,44,1,1700010800000000,1.0,'interval','default',1700010800000000,'unchanged',0,200,'',94,1,'interval');
INSERT INTO "poll" VALUES(41,49,1,1700010800000000,1.0,'interval','default',1700010800000000,'unchanged',0,200,'',40,1,'interval');
INSERT INTO "poll" VALUES(42,52,1,1700010800000000,1.0,'interval','default',1700010800000000,'unchanged',0,200,'',159,1,'interval');
INSERT INTO "poll" VALUES(43,54,1,1700010800000000,1.0,'interval','default',1700010800000000,'unchanged',0,200,'',199,1,'interval');
INSERT INTO "poll" VALUES(44,58,1,1700010800000000,1.0,'interval','default',1700010800000000,'unchanged',0,200,'',54,1,'interval');
INSERT INTO "poll" VALUES(45,1,1,1700014400000000,1.0,'interval','default',1700014400000000,'unchanged',0,200,'',1051,1,'interval');
INSERT INTO "poll" VALUES(46,21,1,1700014400000000,1.0,'interval','default',1700014400000000,'unchanged',0,200,'',1595,1,'interval');
INSERT INTO "poll" VALUES(47,28,1,1700014400000000,1.0,'interval','default',1700014400000000,'unchanged',0,200,'',418,1,'interval');
INSERT INTO "poll" VALUES(48,32,1,1700014400000000,1.0,'interval','default',1700014400000000,'unchanged',0,200,'',224,1,'interval');
INSERT INTO "poll" VALUES(49,38,1,1700014400000000,1.0,'interval','default',1700014400000000,'unchanged',0,200,'',229,1,'interval');
INSERT INTO "poll" VALUES(50,40,1,1700014400000000,1.0,'interval','default',1700014400000000,'unchanged',0,200,'',262,1,'interval');
INSERT INTO "poll" VALUES(51,44,1,1700014400000000,1.0,'interval','default',1700014400000000,'unchanged',0,200,'',94,1,'interval');
INSERT INTO "poll" VALUES(52,49,1,1700014400000000,1.0,'interval','default',1700014400000000,'unchanged',0,200,'',40,1,'interval');
INSERT INTO "poll" VALUES(53,52,1,1700014400000000,1.0,'interval','default',1700014400000000,'unchanged',0,200,'',159,1,'interval');
INSERT INTO "poll" VALUES(54,54,1,1700014400000000,1.0,'interval','default',1700014400000000,'unchanged',0,200,'',199,1,'interval');
INSERT INTO "poll" VALUES(55,58,1,1700014400000000,1.0,'interval','default',1700014400000000,'unchanged',0,200,'',54,1,'interval');
INSERT INTO "poll" VALUES(56,1,1,1700018000000000,1.0,'interval','default',1700018000000000,'unchanged',0,200,'',1051,1,'interval');
INSERT INTO "poll" VALUES(57,21,1,1700018000000000,1.0,'interval','default',1700018000000000,'unchanged',0,200,'',1595,1,'interval');
INSERT INTO "poll" VALUES(58,28,1,1700018000000000,1.0,'interval','default',1700018000000000,'unchanged',0,200,'',418,1,'interval');
INSERT INTO "poll" VALUES(59,32,1,1700018000000000,1.0,'interval','default',1700018000000000,'unchanged',0,200,'',224,1,'interval');
INSERT INTO "poll" VALUES(60,38,1,1700018000000000,1.0,'interval','default',1700018000000000,'unchanged',0,200,'',229,1,'interval');
INSERT INTO "poll" VALUES(61,40,1,1700018000000000,1.0,'interval','default',1700018000000000,'unchanged',0,200,'',262,1,'interval');
INSERT INTO "poll" VALUES(62,44,1,1700018000000000,1.0,'interval','default',1700018000000000,'unchanged',0,200,'',94,1,'interval');
INSERT INTO "poll" VALUES(63,49,1,1700018000000000,1.0,'interval','default',1700018000000000,'unchanged',0,200,'',40,1,'interval');
INSERT INTO "poll" VALUES(64,52,1,1700018000000000,1.0,'interval','default',1700018000000000,'unchanged',0,200,'',159,1,'interval');
INSERT INTO "poll" VALUES(65,54,1,1700018000000000,1.0,'interval','default',1700018000000000,'unchanged',0,200,'',199,1,'interval');
INSERT INTO "poll" VALUES(66,58,1,1700018000000000,1.0,'interval','default',1700018000000000,'unchanged',0,200,'',54,1,'interval');
CREATE TABLE quarantine (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	page_id BIGINT NOT NULL, 
	at BIGINT NOT NULL, 
	kind TEXT NOT NULL, 
	sha256 TEXT NOT NULL, 
	reason TEXT DEFAULT '' NOT NULL, 
	CONSTRAINT fk_quarantine_page_id FOREIGN KEY(page_id) REFERENCES page (id), 
	CONSTRAINT fk_quarantine_sha256 FOREIGN KEY(sha256) REFERENCES blob (sha256)
);
CREATE TABLE request (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	page_id BIGINT NOT NULL, 
	asked_at BIGINT NOT NULL, 
	sentinel_id BIGINT, 
	poll_id BIGINT, 
	refused TEXT DEFAULT '' NOT NULL, 
	CONSTRAINT fk_request_page_id FOREIGN KEY(page_id) REFERENCES page (id), 
	CONSTRAINT fk_request_sentinel_id FOREIGN KEY(sentinel_id) REFERENCES sentinel (id)
);
CREATE TABLE rule_state (
	sentinel_id BIGINT NOT NULL, 
	name TEXT NOT NULL, 
	state TEXT NOT NULL, 
	CONSTRAINT pk_rule_state PRIMARY KEY (sentinel_id, name), 
	CONSTRAINT fk_rule_state_sentinel_id FOREIGN KEY(sentinel_id) REFERENCES sentinel (id)
);
CREATE TABLE secret (
	owner_id BIGINT NOT NULL, 
	name TEXT NOT NULL, 
	kind TEXT DEFAULT 'text' NOT NULL, 
	key_id TEXT DEFAULT '' NOT NULL, 
	value TEXT NOT NULL, 
	set_at BIGINT DEFAULT 0 NOT NULL, 
	CONSTRAINT pk_secret PRIMARY KEY (owner_id, name), 
	CONSTRAINT fk_secret_owner_id FOREIGN KEY(owner_id) REFERENCES owner (id)
);
INSERT INTO "secret" VALUES(1,'webhook','signing','f462cde70275','WILBcHBcSmss5GTS7HokafGAOZfzr6SyC4nmGF196/3AvMQCH5m98Y834BPrwuNuJ9K8+B6R3qxTMq6K5s6iMwQzijcwTL1acIbZg4Xy',1700000000000000);
CREATE TABLE sentinel (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	owner_id BIGINT NOT NULL, 
	name TEXT NOT NULL, 
	dropped BIGINT DEFAULT 0 NOT NULL, 
	state TEXT NOT NULL, 
	reason TEXT DEFAULT '' NOT NULL, 
	revision BIGINT DEFAULT 1 NOT NULL, 
	start_at BIGINT, 
	end_at BIGINT, 
	created_at BIGINT NOT NULL, 
	started_at BIGINT, 
	ended_at BIGINT, 
	base_id BIGINT, 
	CONSTRAINT uq_sentinel_owner_id_name_dropped UNIQUE (owner_id, name, dropped), 
	CONSTRAINT fk_sentinel_owner_id FOREIGN KEY(owner_id) REFERENCES owner (id), 
	CONSTRAINT fk_sentinel_base_id FOREIGN KEY(base_id) REFERENCES sentinel (id)
);
INSERT INTO "sentinel" VALUES(1,1,'s0',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(2,1,'s1',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(3,1,'s2',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(4,1,'s3',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(5,1,'s4',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(6,1,'s5',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(7,1,'s6',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(8,1,'s7',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(9,1,'s8',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(10,1,'s9',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(11,1,'s10',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(12,1,'s11',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(13,1,'s12',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(14,1,'s13',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(15,1,'s14',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(16,1,'s15',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(17,1,'s16',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(18,1,'s17',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(19,1,'s18',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(20,1,'s19',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(21,1,'s20',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(22,1,'s21',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(23,1,'s22',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(24,1,'s23',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(25,1,'s24',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(26,1,'s25',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(27,1,'s26',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(28,1,'s27',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(29,1,'s28',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(30,1,'s29',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(31,1,'s30',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(32,1,'s31',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(33,1,'s32',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(34,1,'s33',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(35,1,'s34',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(36,1,'s35',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(37,1,'s36',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(38,1,'s37',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(39,1,'s38',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(40,1,'s39',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(41,1,'s40',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(42,1,'s41',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(43,1,'s42',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(44,1,'s43',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(45,1,'s44',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(46,1,'s45',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(47,1,'s46',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(48,1,'s47',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(49,1,'s48',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(50,1,'s49',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(51,1,'s50',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(52,1,'s51',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(53,1,'s52',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(54,1,'s53',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(55,1,'s54',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(56,1,'s55',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(57,1,'s56',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(58,1,'s57',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(59,1,'s58',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(60,1,'s59',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
INSERT INTO "sentinel" VALUES(61,1,'s60',0,'enabled','',1,1700000000000000,NULL,1700000000000000,1700000000000000,NULL,NULL);
CREATE TABLE sentinel_revision (
	sentinel_id BIGINT NOT NULL, 
	number BIGINT NOT NULL, 
	text TEXT NOT NULL, 
	created_at BIGINT NOT NULL, 
	CONSTRAINT pk_sentinel_revision PRIMARY KEY (sentinel_id, number), 
	CONSTRAINT fk_sentinel_revision_sentinel_id FOREIGN KEY(sentinel_id) REFERENCES sentinel (id)
);
INSERT INTO "sentinel_revision" VALUES(1,1,'Create Sentinel s0 Using http://127.0.0.1:18799/shop
  Monitor any change
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(2,1,'Create Sentinel s1 Using http://127.0.0.1:18799/shop
  Monitor all words
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(3,1,'Create Sentinel s2 Using http://127.0.0.1:18799/shop
  Monitor all links
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(4,1,'Create Sentinel s3 Using http://127.0.0.1:18799/shop
  Monitor all images
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(5,1,'Create Sentinel s4 Using http://127.0.0.1:18799/shop
  Monitor keyword "lamps"
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(6,1,'Create Sentinel s5 Using http://127.0.0.1:18799/shop
  Monitor phrase "only today"
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(7,1,'Create Sentinel s6 Using http://127.0.0.1:18799/shop
  Monitor table 1
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(8,1,'Create Sentinel s7 Using http://127.0.0.1:18799/shop
  Monitor list
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(9,1,'Create Sentinel s8 Using http://127.0.0.1:18799/shop
  Monitor number
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(10,1,'Create Sentinel s9 Using http://127.0.0.1:18799/shop
  Monitor price
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(11,1,'Create Sentinel s10 Using http://127.0.0.1:18799/shop
  Monitor availability
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(12,1,'Create Sentinel s11 Using http://127.0.0.1:18799/shop
  Monitor regex "[0-9]+ EUR"
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(13,1,'Create Sentinel s12 Using http://127.0.0.1:18799/shop
  Monitor all words in css "main"
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(14,1,'Create Sentinel s13 Using http://127.0.0.1:18799/shop
  Monitor any change in css "button[disabled]"
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(15,1,'Create Sentinel s14 Using http://127.0.0.1:18799/shop
  Monitor number in css ".price.sale"
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(16,1,'Create Sentinel s15 Using http://127.0.0.1:18799/shop
  Monitor all words in xpath "//img/@alt"
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(17,1,'Create Sentinel s16 Using http://127.0.0.1:18799/shop
  Monitor all images in css "picture"
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(18,1,'Create Sentinel s17 Using http://127.0.0.1:18799/shop
  Monitor any change where contains "lamps"
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(19,1,'Create Sentinel s18 Using http://127.0.0.1:18799/shop
  Monitor all words
  Exclude css "nav"
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(20,1,'Create Sentinel s19 Using http://127.0.0.1:18799/shop
  Monitor all words
  Exclude words <only>
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(21,1,'Create Sentinel s20 Using http://127.0.0.1:18799/rss
  Monitor any change
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(22,1,'Create Sentinel s21 Using http://127.0.0.1:18799/rss
  Monitor all words
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(23,1,'Create Sentinel s22 Using http://127.0.0.1:18799/rss
  Monitor items
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(24,1,'Create Sentinel s23 Using http://127.0.0.1:18799/rss
  Monitor all links
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(25,1,'Create Sentinel s24 Using http://127.0.0.1:18799/rss
  Monitor items where contains "Entry 2"
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(26,1,'Create Sentinel s25 Using http://127.0.0.1:18799/rss
  Monitor items in xpath "//item"
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(27,1,'Create Sentinel s26 Using http://127.0.0.1:18799/rss
  Monitor any change in css "item"
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(28,1,'Create Sentinel s27 Using http://127.0.0.1:18799/atom
  Monitor any change
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(29,1,'Create Sentinel s28 Using http://127.0.0.1:18799/atom
  Monitor all words
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(30,1,'Create Sentinel s29 Using http://127.0.0.1:18799/atom
  Monitor items
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(31,1,'Create Sentinel s30 Using http://127.0.0.1:18799/atom
  Monitor all links
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(32,1,'Create Sentinel s31 Using http://127.0.0.1:18799/data
  Monitor any change
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(33,1,'Create Sentinel s32 Using http://127.0.0.1:18799/data
  Monitor all words
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(34,1,'Create Sentinel s33 Using http://127.0.0.1:18799/data
  Monitor items
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(35,1,'Create Sentinel s34 Using http://127.0.0.1:18799/data
  Monitor any change in jsonpath "$.services[*].status"
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(36,1,'Create Sentinel s35 Using http://127.0.0.1:18799/data
  Monitor items in jsonpath "$.items"
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(37,1,'Create Sentinel s36 Using http://127.0.0.1:18799/data
  Monitor number in jsonpath "$.items[0].price"
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(38,1,'Create Sentinel s37 Using http://127.0.0.1:18799/wrapped
  Monitor any change
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(39,1,'Create Sentinel s38 Using http://127.0.0.1:18799/wrapped
  Monitor all words
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(40,1,'Create Sentinel s39 Using http://127.0.0.1:18799/feed.json
  Monitor any change
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(41,1,'Create Sentinel s40 Using http://127.0.0.1:18799/feed.json
  Monitor all words
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(42,1,'Create Sentinel s41 Using http://127.0.0.1:18799/feed.json
  Monitor items
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(43,1,'Create Sentinel s42 Using http://127.0.0.1:18799/feed.json
  Monitor all links
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(44,1,'Create Sentinel s43 Using http://127.0.0.1:18799/xml
  Monitor any change
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(45,1,'Create Sentinel s44 Using http://127.0.0.1:18799/xml
  Monitor all words
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(46,1,'Create Sentinel s45 Using http://127.0.0.1:18799/xml
  Monitor items
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(47,1,'Create Sentinel s46 Using http://127.0.0.1:18799/xml
  Monitor any change in xpath "//c"
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(48,1,'Create Sentinel s47 Using http://127.0.0.1:18799/xml
  Monitor any change in css "c"
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(49,1,'Create Sentinel s48 Using http://127.0.0.1:18799/csv
  Monitor any change
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(50,1,'Create Sentinel s49 Using http://127.0.0.1:18799/csv
  Monitor all words
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(51,1,'Create Sentinel s50 Using http://127.0.0.1:18799/csv
  Monitor table
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(52,1,'Create Sentinel s51 Using http://127.0.0.1:18799/ics
  Monitor any change
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(53,1,'Create Sentinel s52 Using http://127.0.0.1:18799/ics
  Monitor all words
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(54,1,'Create Sentinel s53 Using http://127.0.0.1:18799/sitemap
  Monitor any change
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(55,1,'Create Sentinel s54 Using http://127.0.0.1:18799/sitemap
  Monitor all words
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(56,1,'Create Sentinel s55 Using http://127.0.0.1:18799/sitemap
  Monitor items
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(57,1,'Create Sentinel s56 Using http://127.0.0.1:18799/sitemap
  Monitor all links
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(58,1,'Create Sentinel s57 Using http://127.0.0.1:18799/text
  Monitor any change
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(59,1,'Create Sentinel s58 Using http://127.0.0.1:18799/text
  Monitor all words
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(60,1,'Create Sentinel s59 Using http://127.0.0.1:18799/text
  Monitor number
  Fetch every 1 hour',1700000000000000);
INSERT INTO "sentinel_revision" VALUES(61,1,'Create Sentinel s60 Using http://127.0.0.1:18799/text
  Monitor all words
  Transform keep lines "Price"
  Fetch every 1 hour',1700000000000000);
CREATE TABLE signal_key (
	taken_key TEXT NOT NULL, 
	pages BIGINT NOT NULL, 
	at BIGINT NOT NULL, 
	CONSTRAINT pk_signal_key PRIMARY KEY (taken_key)
);
CREATE TABLE subscription (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	sentinel_id BIGINT NOT NULL, 
	page_id BIGINT NOT NULL, 
	label TEXT DEFAULT '' NOT NULL, 
	revision BIGINT DEFAULT 1 NOT NULL, 
	base BIGINT DEFAULT 0 NOT NULL, 
	taken TEXT DEFAULT '[]' NOT NULL, 
	next_tick BIGINT, 
	ticked_at BIGINT, 
	active SMALLINT DEFAULT 0 NOT NULL, 
	missing TEXT DEFAULT '' NOT NULL, 
	number BIGINT DEFAULT 0 NOT NULL, 
	seen BIGINT DEFAULT 0 NOT NULL, 
	since BIGINT DEFAULT 0 NOT NULL, 
	paused BIGINT DEFAULT 0 NOT NULL, 
	altered_at BIGINT DEFAULT 0 NOT NULL, 
	left_at BIGINT, 
	remembered TEXT DEFAULT '' NOT NULL, 
	learned TEXT DEFAULT '' NOT NULL, 
	CONSTRAINT uq_subscription_sentinel_id_page_id_label UNIQUE (sentinel_id, page_id, label), 
	CONSTRAINT fk_subscription_sentinel_id FOREIGN KEY(sentinel_id) REFERENCES sentinel (id), 
	CONSTRAINT fk_subscription_page_id FOREIGN KEY(page_id) REFERENCES page (id)
);
INSERT INTO "subscription" VALUES(1,1,1,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(2,2,1,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(3,3,1,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(4,4,1,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(5,5,1,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(6,6,1,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(7,7,1,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(8,8,1,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(9,9,1,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(10,10,1,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(11,11,1,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(12,12,1,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(13,13,1,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'{"targets":[["css","main",["main",[],"Lamps Only $19 99 today, 1.299,- before secret 5 years Buy 19 99 EUR write 19.99 Auf Lager insur­ance İstanbul café H 2 O and 10 2 , 5 comments, posted 3 days ago","a","No",["html","body","main"]],[]]]}','');
INSERT INTO "subscription" VALUES(14,14,1,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'{"targets":[["css","button[disabled]",["button",[["class","buy sold-out"],["id","buy"]],"Buy","secret 5 years","19",["html","body","main","button buy out sold"]],[]]]}','');
INSERT INTO "subscription" VALUES(15,15,1,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'{"targets":[["css",".price.sale",["span",[["class","price sale"]],"19 99 EUR","Buy","write",["html","body","main","span price sale"]],[]]]}','');
INSERT INTO "subscription" VALUES(16,16,1,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(17,17,1,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'{"targets":[["css","picture",["picture",[],"","secret 5 years","Buy",["html","body","main","picture"]],[]]]}','');
INSERT INTO "subscription" VALUES(18,18,1,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(19,19,1,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(20,20,1,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(21,21,21,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(22,22,21,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(23,23,21,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'{"marks":["4b7ee54bf12","074273609fb","2ae7ceafbae","fe574b475f1","74fc0f78a40","ec14876c1b2","eb9cd84dce4","7d812a1a6b3","36b4ba3561d","2d9b7eb981b"]}','');
INSERT INTO "subscription" VALUES(24,24,21,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(25,25,21,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'{"marks":["4b7ee54bf12","074273609fb","2ae7ceafbae","fe574b475f1","74fc0f78a40","ec14876c1b2","eb9cd84dce4","7d812a1a6b3","36b4ba3561d","2d9b7eb981b"]}','');
INSERT INTO "subscription" VALUES(26,26,21,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'{"marks":["4b7ee54bf12","074273609fb","2ae7ceafbae","fe574b475f1","74fc0f78a40","ec14876c1b2","eb9cd84dce4","7d812a1a6b3","36b4ba3561d"]}','');
INSERT INTO "subscription" VALUES(27,27,21,'',1,1,'[1]',1700021600000000,1700018000000000,1,'[1,1,["css \"item\""],["css \"item\""]]',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(28,28,28,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(29,29,28,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(30,30,28,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'{"marks":["a22be1ffe43","1f5b2bd3029","be9f414091c","498f6f5b4be"]}','');
INSERT INTO "subscription" VALUES(31,31,28,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(32,32,32,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(33,33,32,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(34,34,32,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(35,35,32,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(36,36,32,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(37,37,32,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(38,38,38,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(39,39,38,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(40,40,40,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(41,41,40,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(42,42,40,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'{"marks":["4b7ee54bf12","b01ad029f6e","488cdd97ad4","fe574b475f1","af6c97bd2fa","fc028956ac1"]}','');
INSERT INTO "subscription" VALUES(43,43,40,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(44,44,44,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(45,45,44,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(46,46,44,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(47,47,44,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(48,48,44,'',1,1,'[1]',1700021600000000,1700018000000000,1,'[1,1,["css \"c\""],["css \"c\""]]',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(49,49,49,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(50,50,49,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(51,51,49,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(52,52,52,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(53,53,52,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(54,54,54,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(55,55,54,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(56,56,54,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(57,57,54,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(58,58,58,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(59,59,58,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(60,60,58,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
INSERT INTO "subscription" VALUES(61,61,58,'',1,1,'[1]',1700021600000000,1700018000000000,1,'',1,1,1700000000000000,0,0,NULL,'','');
CREATE TABLE tag (
	sentinel_id BIGINT NOT NULL, 
	name TEXT NOT NULL, 
	CONSTRAINT pk_tag PRIMARY KEY (sentinel_id, name), 
	CONSTRAINT fk_tag_sentinel_id FOREIGN KEY(sentinel_id) REFERENCES sentinel (id)
);
CREATE TABLE tag_default (
	owner_id BIGINT NOT NULL, 
	tag TEXT NOT NULL, 
	text TEXT NOT NULL, 
	CONSTRAINT pk_tag_default PRIMARY KEY (owner_id, tag), 
	CONSTRAINT fk_tag_default_owner_id FOREIGN KEY(owner_id) REFERENCES owner (id)
);
CREATE TABLE timer (
	kind TEXT NOT NULL, 
	ref BIGINT NOT NULL, 
	due_at BIGINT NOT NULL, 
	data TEXT DEFAULT '{}' NOT NULL, 
	CONSTRAINT pk_timer PRIMARY KEY (kind, ref)
);
CREATE TABLE trust (
	host TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	state TEXT NOT NULL, 
	at BIGINT NOT NULL, 
	CONSTRAINT pk_trust PRIMARY KEY (host, kind)
);
INSERT INTO "trust" VALUES('127.0.0.1:18799','updated','{"moved_with":0.0,"moved_alone":0.0,"still_with":10.0,"still_alone":0.0}',1700018000000000);
CREATE TABLE version (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	page_id BIGINT NOT NULL, 
	seq BIGINT NOT NULL, 
	sha256 TEXT NOT NULL, 
	size BIGINT NOT NULL, 
	fetched_at BIGINT NOT NULL, 
	modified_at BIGINT, 
	charset TEXT DEFAULT '' NOT NULL, 
	charset_source TEXT DEFAULT '' NOT NULL, 
	content_type TEXT DEFAULT '' NOT NULL, 
	title TEXT DEFAULT '' NOT NULL, 
	final_url TEXT DEFAULT '' NOT NULL, 
	status BIGINT DEFAULT 200 NOT NULL, 
	headers TEXT DEFAULT '{}' NOT NULL, 
	text_changed SMALLINT DEFAULT 1 NOT NULL, 
	words BIGINT DEFAULT 0 NOT NULL, 
	screenshot TEXT DEFAULT '' NOT NULL, 
	frames BIGINT DEFAULT 0 NOT NULL, 
	CONSTRAINT uq_version_page_id_seq UNIQUE (page_id, seq), 
	CONSTRAINT fk_version_page_id FOREIGN KEY(page_id) REFERENCES page (id), 
	CONSTRAINT fk_version_sha256 FOREIGN KEY(sha256) REFERENCES blob (sha256)
);
INSERT INTO "version" VALUES(1,1,1,'db38cd598b8be2d914b4e988d06da42b564fa63b4363399c01e11da78d7a76ba',1051,1700000000000000,NULL,'utf-8','header','text/html; charset=utf-8','Shop','http://127.0.0.1:18799/shop',200,'{"content-type":"text/html; charset=utf-8"}',0,46,'',0);
INSERT INTO "version" VALUES(2,21,1,'48cfbd73b4e96875003eab01a6edef2f34194ba7578d29dbe55f6f4603e08faa',1595,1700000000000000,NULL,'utf-8','utf-8','application/rss+xml','News','http://127.0.0.1:18799/rss',200,'{"content-type":"application/rss+xml"}',0,67,'',0);
INSERT INTO "version" VALUES(3,28,1,'4520fa4f41cb7412d6b673d73a53c4e89a2860b8a19b2404548df91fa0222d56',418,1700000000000000,NULL,'utf-8','utf-8','application/atom+xml','Blog','http://127.0.0.1:18799/atom',200,'{"content-type":"application/atom+xml"}',0,11,'',0);
INSERT INTO "version" VALUES(4,32,1,'69ab72beab7e9f13040a43034bb2b20546c451188282711175224481248f32c2',224,1700000000000000,NULL,'utf-8','utf-8','application/json','','http://127.0.0.1:18799/data',200,'{"content-type":"application/json"}',0,28,'',0);
INSERT INTO "version" VALUES(5,38,1,'d487da8a9cad0cd0f19c2c19538453434cfe90b9bd275adb84dbbce3f15a7658',229,1700000000000000,NULL,'utf-8','utf-8','application/json','','http://127.0.0.1:18799/wrapped',200,'{"content-type":"application/json"}',0,28,'',0);
INSERT INTO "version" VALUES(6,40,1,'6d98134a35c36e88b01f01ac95319cecada4f1914dc0ddb2cbe4bd7bdac6c556',262,1700000000000000,NULL,'utf-8','utf-8','application/feed+json','','http://127.0.0.1:18799/feed.json',200,'{"content-type":"application/feed+json"}',0,45,'',0);
INSERT INTO "version" VALUES(7,44,1,'1df11afc288d548d2278fafa3a8cd9c1f22ae2b10df376b6da24da19ce242554',94,1700000000000000,NULL,'utf-8','utf-8','application/xml','','http://127.0.0.1:18799/xml',200,'{"content-type":"application/xml"}',0,7,'',0);
INSERT INTO "version" VALUES(8,49,1,'9d27ab3453b33d01a618a3b88cc245c8f223fc77fa344f4c96f2c7cc831fae82',40,1700000000000000,NULL,'utf-8','utf-8','text/csv','','http://127.0.0.1:18799/csv',200,'{"content-type":"text/csv"}',0,12,'',0);
INSERT INTO "version" VALUES(9,52,1,'4fe0481bd73b95e055492b092c65f4bcb678cc1597f506071263fa076949f415',159,1700000000000000,NULL,'utf-8','utf-8','text/calendar','','http://127.0.0.1:18799/ics',200,'{"content-type":"text/calendar"}',0,21,'',0);
INSERT INTO "version" VALUES(10,54,1,'d9d0ba14558a4cc5f742091e6262799175176b3f08cb6610fdce3e965b0d39fc',199,1700000000000000,NULL,'utf-8','utf-8','application/xml','','http://127.0.0.1:18799/sitemap',200,'{"content-type":"application/xml"}',0,11,'',0);
INSERT INTO "version" VALUES(11,58,1,'8b5cef43919b70dc56c94becb8f782196c873d26262b9a79b5f917c89d95b794',54,1700000000000000,NULL,'utf-8','header','text/plain; charset=utf-8','','http://127.0.0.1:18799/text',200,'{"content-type":"text/plain; charset=utf-8"}',0,11,'',0);
CREATE TABLE version_member (
	version_id BIGINT NOT NULL, 
	position BIGINT NOT NULL, 
	"key" TEXT NOT NULL, 
	sha256 TEXT NOT NULL, 
	seq BIGINT DEFAULT 0 NOT NULL, 
	CONSTRAINT pk_version_member PRIMARY KEY (version_id, position), 
	CONSTRAINT fk_version_member_version_id FOREIGN KEY(version_id) REFERENCES version (id), 
	CONSTRAINT fk_version_member_sha256 FOREIGN KEY(sha256) REFERENCES blob (sha256)
);
CREATE TABLE websub (
	page_id BIGINT NOT NULL, 
	hub TEXT NOT NULL, 
	topic TEXT NOT NULL, 
	token TEXT NOT NULL, 
	state TEXT NOT NULL, 
	asked_at BIGINT, 
	until BIGINT, 
	due_at BIGINT, 
	attempts BIGINT DEFAULT 0 NOT NULL, 
	problem TEXT DEFAULT '' NOT NULL, 
	CONSTRAINT pk_websub PRIMARY KEY (page_id), 
	CONSTRAINT uq_websub_token UNIQUE (token), 
	CONSTRAINT fk_websub_page_id FOREIGN KEY(page_id) REFERENCES page (id)
);
CREATE INDEX ix_blob_base ON blob (base) WHERE base <> '';
CREATE INDEX ix_signal_key_at ON signal_key (at);
CREATE INDEX ix_timer_due_at ON timer (due_at);
CREATE INDEX ix_page_host ON page (host);
CREATE INDEX ix_event_change_id ON event (change_id) WHERE change_id IS NOT NULL;
CREATE INDEX ix_tag_name ON tag (name);
CREATE INDEX ix_subscription_page_id ON subscription (page_id);
CREATE INDEX ix_version_sha256 ON version (sha256);
CREATE INDEX ix_version_screenshot ON version (screenshot) WHERE screenshot <> '';
CREATE INDEX ix_quarantine_page_id ON quarantine (page_id);
CREATE INDEX ix_event_key_at ON event_key (at);
CREATE INDEX ix_delivery_created_at ON delivery (created_at);
CREATE INDEX ix_delivery_waiting ON delivery (due_at) WHERE status = 'waiting';
CREATE INDEX ix_delivery_sentinel_id ON delivery (sentinel_id);
CREATE INDEX ix_delivery_endpoint_id_finished_at_sentinel_id_id ON delivery (endpoint_id, finished_at, sentinel_id, id);
CREATE INDEX ix_poll_open ON poll (id) WHERE outcome IS NULL;
CREATE INDEX ix_poll_page_id ON poll (page_id);
CREATE INDEX ix_request_open ON request (id) WHERE poll_id IS NULL AND refused = '';
CREATE INDEX ix_version_member_sha256 ON version_member (sha256);
CREATE INDEX ix_comparison_pending ON comparison (at) WHERE status = 'pending';
CREATE INDEX ix_change_page_id ON change (page_id);
CREATE INDEX ix_change_sentinel_id_event_seq ON change (sentinel_id, event_seq);
CREATE INDEX ix_change_detected_at ON change (detected_at);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('owner',1);
INSERT INTO "sqlite_sequence" VALUES('sentinel',61);
INSERT INTO "sqlite_sequence" VALUES('page',61);
INSERT INTO "sqlite_sequence" VALUES('subscription',61);
INSERT INTO "sqlite_sequence" VALUES('poll',66);
INSERT INTO "sqlite_sequence" VALUES('version',11);
COMMIT;
